package dev.parley.mesh.workflow;

import dev.parley.dialect.Json;
import dev.parley.protocol.InvalidField;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Schema of the inputs of a stored workflow: a part of JSON Schema whose keywords are all checked. Others are rejected when the definition is
 * saved, so that no author relies on one without effect.
 *
 * <p>Source: JSON Schema 2020-12, Validation.
 */
final class InputsSchema {
    private static final Set<String> NOTES =
            Set.of("$schema", "title", "description", "examples", "default", "deprecated", "format");
    private static final Set<String> KEYWORDS = Set.of(
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "const",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems");
    private static final Set<String> TYPES =
            Set.of("object", "array", "string", "number", "integer", "boolean", "null");
    private static final int MAX_DEPTH = 16;

    private InputsSchema() {}

    /** @throws InvalidField if this is not such a schema, with the place */
    static void check(Map<?, ?> schema, String place) {
        if (schema.containsKey("type") && !"object".equals(schema.get("type"))) {
            throw InvalidField.of(place + ".type", shown(schema.get("type")) + " (expected: object)");
        }
        check(schema, place, 0);
    }

    private static void check(Map<?, ?> schema, String place, int depth) {
        if (depth > MAX_DEPTH) {
            throw InvalidField.of(place, "nested deeper than " + MAX_DEPTH + " levels");
        }
        schema.forEach((key, value) -> {
            String name = String.valueOf(key);
            String at = place + "." + name;
            switch (name) {
                case "type" -> {
                    for (Object type : value instanceof List<?> list ? list : List.of(String.valueOf(value))) {
                        require(
                                TYPES.contains(String.valueOf(type)),
                                at,
                                type,
                                String.join(", ", new TreeSet<>(TYPES)));
                    }
                }
                case "properties" -> {
                    require(value instanceof Map<?, ?>, at, value, "an object");
                    ((Map<?, ?>) value).forEach((member, of) -> {
                        require(of instanceof Map<?, ?>, at + "." + member, of, "a schema");
                        check((Map<?, ?>) of, at + "." + member, depth + 1);
                    });
                }
                case "items" -> {
                    require(value instanceof Map<?, ?>, at, value, "a schema");
                    check((Map<?, ?>) value, at, depth + 1);
                }
                case "required" ->
                    require(
                            value instanceof List<?> list && list.stream().allMatch(String.class::isInstance),
                            at,
                            value,
                            "names of properties");
                case "additionalProperties" -> require(value instanceof Boolean, at, value, "true or false");
                case "enum" -> require(value instanceof List<?>, at, value, "a list");
                case "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems" ->
                    require(value instanceof Number, at, value, "a number");
                default ->
                    require(
                            NOTES.contains(name) || KEYWORDS.contains(name),
                            at,
                            "unknown keyword",
                            String.join(", ", new TreeSet<>(KEYWORDS)));
            }
        });
    }

    private static void require(boolean holds, String place, @Nullable Object value, String expected) {
        if (!holds) {
            throw InvalidField.of(place, shown(value) + " (expected: " + expected + ")");
        }
    }

    private static String shown(@Nullable Object value) {
        String text = new String(Json.write(value), StandardCharsets.UTF_8);
        return text.length() <= 100 ? text : text.substring(0, 100) + "…";
    }

    /** Names of the inputs; null if others are allowed. */
    static @Nullable Set<String> names(Map<?, ?> schema) {
        if (!(schema.get("properties") instanceof Map<?, ?> properties)
                || Boolean.TRUE.equals(schema.get("additionalProperties"))) {
            return null;
        }
        var names = new TreeSet<String>();
        properties.keySet().forEach(name -> names.add(String.valueOf(name)));
        return names;
    }

    /**
     * Inputs with the defaults of the schema.
     *
     * @throws InvalidField if they do not fit the schema, with the place
     */
    static Map<String, @Nullable Object> filled(Map<?, ?> schema, Map<String, @Nullable Object> inputs) {
        var filled = new LinkedHashMap<>(inputs);
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            properties.forEach((name, of) -> {
                if (of instanceof Map<?, ?> property && property.containsKey("default")) {
                    filled.putIfAbsent(String.valueOf(name), property.get("default"));
                }
            });
        }
        require(schema, filled, "inputs");
        return filled;
    }

    private static void require(Map<?, ?> schema, @Nullable Object value, String place) {
        if (schema.get("type") != null) {
            List<?> types = schema.get("type") instanceof List<?> list ? list : List.of(schema.get("type"));
            require(types.stream().anyMatch(type -> isOf(String.valueOf(type), value)), place, value, expected(types));
        }
        if (schema.get("enum") instanceof List<?> values) {
            require(values.stream().anyMatch(each -> isSame(each, value)), place, value, "one of " + shown(values));
        }
        if (schema.containsKey("const")) {
            require(isSame(schema.get("const"), value), place, value, shown(schema.get("const")));
        }
        switch (value) {
            case String text -> bounds(schema, "Length", text.codePointCount(0, text.length()), " characters", place);
            case Number number -> {
                least(schema, "minimum", number.doubleValue(), "", place);
                most(schema, "maximum", number.doubleValue(), "", place);
            }
            case List<?> list -> {
                bounds(schema, "Items", list.size(), " elements", place);
                if (schema.get("items") instanceof Map<?, ?> items) {
                    for (int i = 0; i < list.size(); i++) {
                        require(items, list.get(i), place + "[" + i + "]");
                    }
                }
            }
            case Map<?, ?> members -> members(schema, members, place);
            case null, default -> {}
        }
    }

    private static void members(Map<?, ?> schema, Map<?, ?> members, String place) {
        Map<?, ?> properties = schema.get("properties") instanceof Map<?, ?> map ? map : Map.of();
        if (schema.get("required") instanceof List<?> required) {
            for (Object name : required) {
                if (!members.containsKey(name)) {
                    Object type = properties.get(name) instanceof Map<?, ?> of ? of.get("type") : null;
                    throw InvalidField.of(
                            place + "." + name,
                            "missing (expected: " + (type == null ? "a value" : expected(List.of(type))) + ")");
                }
            }
        }
        Set<String> names = names(schema);
        members.forEach((name, value) -> {
            String at = place + "." + name;
            if (properties.get(name) instanceof Map<?, ?> of) {
                require(of, value, at);
            } else if (names != null && !names.contains(String.valueOf(name))) {
                throw InvalidField.of(at, "unknown (expected: one of " + String.join(", ", names) + ")");
            }
        });
    }

    private static void bounds(Map<?, ?> schema, String keyword, int size, String unit, String place) {
        least(schema, "min" + keyword, size, unit, place);
        most(schema, "max" + keyword, size, unit, place);
    }

    private static void least(Map<?, ?> schema, String keyword, double value, String unit, String place) {
        if (schema.get(keyword) instanceof Number least && value < least.doubleValue()) {
            throw InvalidField.of(place, shown(value) + unit + " (expected: at least " + least + ")");
        }
    }

    private static void most(Map<?, ?> schema, String keyword, double value, String unit, String place) {
        if (schema.get(keyword) instanceof Number most && value > most.doubleValue()) {
            throw InvalidField.of(place, shown(value) + unit + " (expected: at most " + most + ")");
        }
    }

    private static String expected(List<?> types) {
        return String.join(" or ", types.stream().map(String::valueOf).toList());
    }

    private static boolean isOf(String type, @Nullable Object value) {
        return switch (type) {
            case "object" -> value instanceof Map<?, ?>;
            case "array" -> value instanceof List<?>;
            case "string" -> value instanceof String;
            case "number" -> value instanceof Number;
            case "integer" -> value instanceof Number number && number.doubleValue() == Math.rint(number.doubleValue());
            case "boolean" -> value instanceof Boolean;
            default -> value == null;
        };
    }

    private static boolean isSame(@Nullable Object allowed, @Nullable Object value) {
        return allowed instanceof Number one && value instanceof Number other
                ? one.doubleValue() == other.doubleValue()
                : allowed == null ? value == null : allowed.equals(value);
    }
}
