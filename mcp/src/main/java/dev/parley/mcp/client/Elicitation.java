package dev.parley.mcp.client;

import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.wire.Lenient;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.support.Excerpt;
import dev.parley.protocol.support.Loopback;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Question of a server to the user: an address to open, or a form. Source: MCP 2026-07-28, Elicitation.
 *
 * @param schema of a form; empty for none
 */
public record Elicitation(
        String mode,
        String message,
        @Nullable String id,
        @Nullable String url,
        Map<String, @Nullable Object> schema) {
    public static final String METHOD = "elicitation/create";

    /** Member of the metadata of a question of a task: parameters of the elicitations that it consists of, by their keys. */
    public static final String METADATA = "urn:parley:mcp:elicitation:v1";

    /** Member of the data part that answers such a question: answers with their actions, by the keys of the elicitations. */
    public static final String DATA = "elicitation";

    /** Parameters of a question. */
    public static final Codec<Elicitation> CODEC = ObjectCodec.<Elicitation>of()
            .always("mode", Lenient.TEXT, "form", Elicitation::mode)
            .always("message", Lenient.TEXT, "", Elicitation::message)
            .optional("elicitationId", Lenient.TEXT, Elicitation::id)
            .optional("url", Lenient.TEXT, Elicitation::url)
            .optional("requestedSchema", Lenient.OBJECT, Map.of(), Elicitation::schema)
            .as(v -> new Elicitation(v.next(), v.next(), v.next(), v.next(), v.next()));

    /** Numbers of JSON: neither NaN nor the suffixes of Java. */
    private static final Pattern NUMBER = Pattern.compile("[+-]?[0-9]{1,300}(\\.[0-9]+)?([eE][+-]?[0-9]{1,3})?");

    /** Reads a request of a server; empty if it is not a question to the user. */
    public static Optional<Elicitation> of(InputRequest request) {
        return METHOD.equals(request.method()) ? Optional.of(asked(request.params())) : Optional.empty();
    }

    /** Reads the parameters of a question. */
    public static Elicitation asked(Map<String, @Nullable Object> params) {
        return CODEC.fromJson(params);
    }

    /** A question by an address. */
    public static Elicitation page(String message, String id, @Nullable String url) {
        return new Elicitation("url", message, id, url, Map.of());
    }

    /** A question by a form. */
    public static Elicitation form(String message, Map<String, @Nullable Object> schema) {
        return new Elicitation("form", message, null, null, schema);
    }

    /** The request to the client. */
    public InputRequest request() {
        return new InputRequest(METHOD, Trees.of(CODEC, this));
    }

    public boolean isUrl() {
        return mode.equals("url");
    }

    /** Whether its address may be shown to a user: over TLS, or on this machine. */
    public boolean isSafe() {
        try {
            URI address = URI.create(String.valueOf(url));
            return !isUrl()
                    || address.getHost() != null
                            && ("https".equals(address.getScheme())
                                    || "http".equals(address.getScheme()) && Loopback.is(address.getHost()));
        } catch (IllegalArgumentException none) {
            return false;
        }
    }

    /** Whether the form has a property of this name. */
    public boolean has(String property) {
        return Trees.map(schema, "properties").containsKey(property);
    }

    /** Whether the form names this value among those of a property. */
    public boolean offers(String property, @Nullable Object value) {
        return allowed(Trees.map(Trees.map(schema, "properties"), property)).contains(value);
    }

    /** The answer with this content, to which the defaults of the schema are added. */
    public InputResponse accept(Map<String, @Nullable Object> content) {
        var all = new LinkedHashMap<>(content);
        Trees.map(schema, "properties").forEach((name, property) -> {
            Map<String, @Nullable Object> type = Trees.map(property);
            if (type.containsKey("default")) {
                all.putIfAbsent(name, type.get("default"));
            }
        });
        return InputResponse.accept(all);
    }

    /** Problem of an answer; empty for a refusal, and for one that fits the schema, as far as the types of forms go. */
    public Optional<String> problem(InputResponse answer) {
        if (answer.isRefusal()) {
            return Optional.empty();
        }
        if (!answer.isAccepted()) {
            return Optional.of("action \"" + Excerpt.of(String.valueOf(answer.action()), 40)
                    + "\": unknown (expected: accept, decline or cancel)");
        }
        if (isUrl()) {
            return Optional.empty();
        }
        Map<String, @Nullable Object> content = answer.form();
        for (String name : Trees.texts(schema, "required")) {
            if (content.get(name) == null) {
                return Optional.of(name + ": missing");
            }
        }
        Map<String, @Nullable Object> properties = Trees.map(schema, "properties");
        for (var each : content.entrySet()) {
            if (!properties.containsKey(each.getKey())) {
                return Optional.of(
                        each.getKey() + ": unknown (expected: members of the form, " + properties.keySet() + ")");
            }
            Map<String, @Nullable Object> type = Trees.map(properties, each.getKey());
            if (each.getValue() != null && !fits(each.getValue(), type)) {
                return Optional.of(each.getKey() + ": does not fit (expected: " + type + ")");
            }
        }
        return Optional.empty();
    }

    private static boolean fits(Object value, Map<String, @Nullable Object> type) {
        List<?> allowed = allowed(type);
        return (allowed.isEmpty() || allowed.contains(value))
                && switch (String.valueOf(type.get("type"))) {
                    case "string" -> value instanceof String text && isWithin(type, "Length", length(text));
                    case "boolean" -> value instanceof Boolean;
                    case "integer" ->
                        value instanceof Number number
                                && number.doubleValue() % 1 == 0
                                && isWithin(type, "imum", number);
                    case "number" -> value instanceof Number number && isWithin(type, "imum", number);
                    case "array" ->
                        value instanceof List<?> list
                                && isWithin(type, "Items", list.size())
                                && list.stream().allMatch(each -> each != null && fits(each, Trees.map(type, "items")));
                    default -> true;
                };
    }

    private static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    private static boolean isWithin(Map<String, @Nullable Object> type, String keyword, Number size) {
        return !(type.get("min" + keyword) instanceof Number least && size.doubleValue() < least.doubleValue())
                && !(type.get("max" + keyword) instanceof Number most && size.doubleValue() > most.doubleValue());
    }

    /** Values of a property, plain or with titles; empty if the form does not name them. */
    private static List<?> allowed(Map<String, @Nullable Object> type) {
        return type.get("enum") instanceof List<?> values
                ? values
                : Stream.of("oneOf", "anyOf")
                        .flatMap(titled -> Trees.maps(type, titled).stream())
                        .filter(each -> each.containsKey("const"))
                        .map(each -> each.get("const"))
                        .toList();
    }

    /** The property that a text answers: the only one, or the only one that the schema wants. */
    public Optional<String> only() {
        Set<String> properties = Trees.map(schema, "properties").keySet();
        List<String> required = Trees.texts(schema, "required");
        return properties.size() == 1
                ? properties.stream().findFirst()
                : required.size() == 1 ? Optional.of(required.getFirst()) : Optional.empty();
    }

    /**
     * The content for a text of a user: the only property that the schema wants.
     *
     * @return empty if it wants several, or the text does not fit
     */
    public Optional<Map<String, @Nullable Object>> content(String text) {
        String name = only().orElse(null);
        if (name == null || text.isBlank()) {
            return Optional.empty();
        }
        Map<String, @Nullable Object> type = Trees.map(Trees.map(schema, "properties"), name);
        Object value = value(text.strip(), String.valueOf(type.get("type")));
        return value == null || !fits(value, type) ? Optional.empty() : Optional.of(Map.of(name, value));
    }

    private static @Nullable Double number(String text) {
        double number = NUMBER.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
        return Double.isFinite(number) ? number : null;
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
                case "number" -> number(text);
                case "array" -> List.of(text);
                default -> text;
            };
        } catch (NumberFormatException none) {
            return null;
        }
    }
}
