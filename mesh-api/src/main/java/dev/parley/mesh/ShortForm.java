package dev.parley.mesh;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.CanonicalJson;
import dev.parley.protocol.support.Sha256;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Bare short form of a message, with its type and the members of its content at the top. */
final class ShortForm {
    private static final String TYPE = "type";
    private static final List<String> OF_ENVELOPE =
            List.of("version", "messageId", "correlationId", "timestamp", "from", "to", TYPE, "metadata", "content");

    private ShortForm() {}

    static boolean isShort(Map<String, @Nullable Object> json) {
        return !json.containsKey("message") && json.get(TYPE) instanceof String;
    }

    /** The message with the members that the short form leaves out. */
    static Map<String, @Nullable Object> full(Map<String, @Nullable Object> json) {
        var content = new LinkedHashMap<String, @Nullable Object>();
        json.forEach((name, value) -> {
            if (!OF_ENVELOPE.contains(name)) {
                content.put(name, value);
            }
        });
        if (json.get("content") instanceof Map<?, ?> members) {
            members.forEach((name, value) -> content.put(String.valueOf(name), value));
        }
        var full = new LinkedHashMap<String, @Nullable Object>(json);
        full.keySet().retainAll(OF_ENVELOPE);
        full.remove("content");
        full.putIfAbsent("version", Envelope.VERSION);
        full.putIfAbsent("messageId", messageId(json));
        full.put("from", party(json.get("from"), content.get("callback")));
        full.put("to", party(json.get("to"), null));
        var message = new HashMap<String, @Nullable Object>();
        message.put(TYPE, full.remove(TYPE));
        message.put("content", json.get("content") != null && content.isEmpty() ? json.get("content") : content);
        full.put("message", message);
        return full;
    }

    /** A repetition under the same correlation id is the same message; without one each message is another. */
    private static String messageId(Map<String, @Nullable Object> json) {
        if (!(json.get("correlationId") instanceof String)) {
            return UUID.randomUUID().toString();
        }
        byte[] form;
        try {
            form = CanonicalJson.of(json);
        } catch (A2AException withoutCanonicalForm) {
            form = Json.write(json);
        }
        return "short-" + HexFormat.of().formatHex(Sha256.of(form)).substring(0, 32);
    }

    private static @Nullable Object party(@Nullable Object written, @Nullable Object endpoint) {
        if (!(written instanceof String name)) {
            return written;
        }
        return Map.of("agentId", name, "endpoint", endpoint instanceof String url ? url : "");
    }
}
