package dev.parley.dialect.legacy;

import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Detects by the body of a request which of the two forms of 0.3 over REST a peer uses; the specification does not name one.
 *
 * <p>Source: A2A specification 0.3.0, section 3.2.3, and the SDKs of its time.
 */
public final class BodyShape {
    private static final Set<String> KINDS = Set.of("user", "agent");

    private BodyShape() {}

    /** Returns the form of 0.3 of a body; null if the body does not show it. */
    public static @Nullable LegacyDialect of(WireRequest request, CallContext caller) {
        if (request.hasNoBody()) {
            return null;
        }
        try {
            return of(
                    LargeBodies.compute(request, caller, () -> JsonText.request(request.body(), Codecs.STRUCT::read)));
        } catch (A2AException malformed) {
            return null; // the next reader reports it
        }
    }

    private static @Nullable LegacyDialect of(@Nullable Map<String, @Nullable Object> body) {
        if (body == null) {
            return null;
        }
        if (body.containsKey("request") || body.containsKey("config") || body.containsKey("parent")) {
            return LegacyDialect.PROTO;
        }
        if (body.containsKey("pushNotificationConfig")) {
            return body.containsKey("name") ? LegacyDialect.PROTO : LegacyDialect.KIND;
        }
        if (!(body.get("message") instanceof Map<?, ?> message)) {
            return null;
        }
        if (message.containsKey("content")) {
            return LegacyDialect.PROTO;
        }
        Object role = message.get("role");
        if (message.containsKey("kind")
                || role != null && KINDS.contains(role)
                || has(message.get("parts"), "kind")
                || has(message.get("parts"), "type")) {
            return LegacyDialect.KIND;
        }
        if (has(message.get("parts"), "file")) {
            return LegacyDialect.PROTO;
        }
        if (body.get("configuration") instanceof Map<?, ?> configuration) {
            return configuration.containsKey("pushNotification") ? LegacyDialect.PROTO : null;
        }
        return null;
    }

    private static boolean has(@Nullable Object parts, String member) {
        return parts instanceof List<?> list
                && list.stream().anyMatch(part -> part instanceof Map<?, ?> members && members.containsKey(member));
    }
}
