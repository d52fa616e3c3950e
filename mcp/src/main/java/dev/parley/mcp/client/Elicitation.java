package dev.parley.mcp.client;

import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.support.Loopback;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Question of a server to the user. Source: MCP 2026-07-28, Elicitation. */
public record Elicitation(
        boolean isUrl, String message, @Nullable String url, Map<String, @Nullable Object> schema) {
    /** Reads a request of a server; empty if it is no question to the user. */
    public static Optional<Elicitation> of(Map<String, @Nullable Object> request) {
        if (!"elicitation/create".equals(request.get("method"))) {
            return Optional.empty();
        }
        Map<String, @Nullable Object> params = Trees.map(request, "params");
        String message = Trees.text(params, "message");
        return Optional.of(new Elicitation(
                "url".equals(params.get("mode")),
                message == null ? "" : message,
                Trees.text(params, "url"),
                Trees.map(params, "requestedSchema")));
    }

    /** Whether its address may be shown to a user: over TLS, or on this machine. */
    public boolean isSafe() {
        try {
            URI address = URI.create(String.valueOf(url));
            return !isUrl
                    || address.getHost() != null
                            && ("https".equals(address.getScheme())
                                    || "http".equals(address.getScheme()) && Loopback.is(address.getHost()));
        } catch (IllegalArgumentException none) {
            return false;
        }
    }

    /** An answer with an action: {@code decline} or {@code cancel}, or {@code accept} of a URL. */
    public static Map<String, @Nullable Object> action(String action) {
        return Trees.members("action", action);
    }

    /** The answer with this content, to which the defaults of the schema are added. */
    public Map<String, @Nullable Object> accept(Map<String, @Nullable Object> content) {
        var all = new LinkedHashMap<>(content);
        Trees.map(schema, "properties").forEach((name, property) -> {
            Map<String, @Nullable Object> type = Trees.map(property);
            if (type.containsKey("default")) {
                all.putIfAbsent(name, type.get("default"));
            }
        });
        return Trees.members("action", "accept", "content", all);
    }

    /** Problem of an answer of {@link #accept}; empty if it fits the schema, as far as the types of forms go. */
    public Optional<String> problem(Map<String, @Nullable Object> answer) {
        Map<String, @Nullable Object> content = Trees.map(answer, "content");
        for (String name : Trees.texts(schema, "required")) {
            if (content.get(name) == null) {
                return Optional.of(name + ": missing");
            }
        }
        Map<String, @Nullable Object> properties = Trees.map(schema, "properties");
        for (var each : content.entrySet()) {
            Map<String, @Nullable Object> type = Trees.map(properties, each.getKey());
            if (each.getValue() != null && !fits(each.getValue(), type)) {
                return Optional.of(each.getKey() + ": does not fit (expected: " + type + ")");
            }
        }
        return Optional.empty();
    }

    private static boolean fits(Object value, Map<String, @Nullable Object> type) {
        List<?> allowed = Trees.list(type.get("enum"));
        boolean isOfType = switch (String.valueOf(type.get("type"))) {
            case "string" -> value instanceof String;
            case "boolean" -> value instanceof Boolean;
            case "integer" -> value instanceof Number number && number.doubleValue() % 1 == 0;
            case "number" -> value instanceof Number;
            case "array" -> value instanceof List<?>;
            default -> true;
        };
        return isOfType && (allowed.isEmpty() || allowed.contains(value));
    }

    /**
     * The content for a text of a user: the only property that the schema wants.
     *
     * @return empty if it wants several, or the text does not fit
     */
    public Optional<Map<String, @Nullable Object>> content(String text) {
        Map<String, @Nullable Object> properties = Trees.map(schema, "properties");
        List<String> required = Trees.texts(schema, "required");
        String name = properties.size() == 1
                ? properties.keySet().iterator().next()
                : required.size() == 1 ? required.getFirst() : null;
        if (name == null) {
            return Optional.empty();
        }
        Map<String, @Nullable Object> type = Trees.map(properties, name);
        Object value = value(text.strip(), String.valueOf(type.get("type")));
        return value == null || !fits(value, type) ? Optional.empty() : Optional.of(Trees.members(name, value));
    }

    private static @Nullable Object value(String text, String type) {
        try {
            return switch (type) {
                case "boolean" ->
                    switch (text.toLowerCase(Locale.ROOT)) {
                        case "true", "yes", "y" -> true;
                        case "false", "no", "n" -> false;
                        default -> null;
                    };
                case "integer" -> Long.parseLong(text);
                case "number" -> Double.parseDouble(text);
                case "array" -> List.of(text);
                default -> text;
            };
        } catch (NumberFormatException none) {
            return null;
        }
    }
}
