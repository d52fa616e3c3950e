package dev.parley.mcp.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.McpException;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.CanonicalJson;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.AesGcm;
import dev.parley.protocol.support.Sha256;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * State of a request that waits for its user, in the hands of the client: encrypted, and bound to the caller, the request and a time.
 * Nothing is kept here, so that any hub with the key reads it.
 *
 * <p>Source: MCP 2026-07-28, Multi Round-Trip Requests.
 */
final class RequestState {
    static final Duration LIFETIME = Duration.ofHours(1);
    static final int MAX_CHARACTERS = 64 << 10;

    private static final byte[] PURPOSE = "parley mcp requestState 1".getBytes(UTF_8);

    private final byte[] key;
    private final InstantSource clock;

    RequestState(byte[] key, InstantSource clock) {
        this.key = key.clone();
        this.clock = clock;
    }

    /** Seals a state for the repetition of a request. */
    String seal(String state, String method, Map<String, @Nullable Object> params, CallContext caller) {
        Map<String, @Nullable Object> content = Trees.object(
                "state",
                state,
                "until",
                clock.instant().plus(LIFETIME).getEpochSecond(),
                "request",
                digest(method, params),
                "caller",
                owner(caller));
        byte[] sealed = AesGcm.seal(key, PURPOSE, JsonText.write(Codecs.STRUCT, content), 0);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(sealed);
    }

    /**
     * Opens what a client has sent.
     *
     * @throws McpException INVALID_PARAMS if it was changed, has expired, or belongs to another caller or request
     */
    String open(String sealed, String method, Map<String, @Nullable Object> params, CallContext caller) {
        if (sealed.length() <= MAX_CHARACTERS) {
            try {
                byte[] container = Base64.getUrlDecoder().decode(sealed);
                if (container.length > AesGcm.NONCE_BYTES) {
                    Map<String, @Nullable Object> content =
                            JsonText.read(AesGcm.open(key, PURPOSE, container, 0), Codecs.STRUCT);
                    if (content.get("until") instanceof Number until
                            && clock.instant().isBefore(Instant.ofEpochSecond(until.longValue()))
                            && digest(method, params).equals(content.get("request"))
                            && owner(caller).equals(content.get("caller"))
                            && content.get("state") instanceof String state) {
                        return state;
                    }
                }
            } catch (IllegalArgumentException | GeneralSecurityException | A2AException changed) {
                // Answered as any other wrong state, so that a client learns nothing from the difference.
            }
        }
        throw new McpException(
                McpException.INVALID_PARAMS,
                "requestState: changed, expired, or of another request (expected: the one of the last result)");
    }

    /** Name of a caller among all of a hub. */
    static String owner(CallContext caller) {
        return caller.scope().group() + "\n" + caller.caller();
    }

    private static String digest(String method, Map<String, @Nullable Object> params) {
        Map<String, @Nullable Object> request = Trees.object(
                "method",
                method,
                "name",
                params.get("name"),
                "uri",
                params.get("uri"),
                "arguments",
                params.getOrDefault("arguments", Map.of()));
        return Base64.getEncoder().encodeToString(Sha256.of(CanonicalJson.of(request)));
    }
}
