package dev.parley.mcp.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.wire.Trees;
import java.math.BigInteger;
import java.net.URLDecoder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks arguments against the input schema of a tool. References within the schema are followed, up to a depth and a number of schemas;
 * others are passed over, as are patterns and formats, whose cost the author of the schema would choose: the tool itself may refuse more.
 *
 * <p>Source: JSON Schema 2020-12, Core 8.2 and Validation; RFC 6901 for the references.
 */
final class InputSchema {
    private static final int MAX_DEPTH = 64;
    private static final int MAX_SHOWN = 20;

    /** Schemas that are applied in one check; a schema may refer to itself for each member of a value. */
    private static final int MAX_SCHEMAS = 100_000;

    private final Map<String, @Nullable Object> root;
    private int left = MAX_SCHEMAS;

    private InputSchema(Map<String, @Nullable Object> root) {
        this.root = root;
    }

    /** The first problem of a value, with its path; empty for none. */
    static Optional<String> problem(Map<String, @Nullable Object> schema, Object value) {
        return new InputSchema(schema).problem(schema, value, "", 0);
    }

    private Optional<String> problem(
            Map<String, @Nullable Object> schema, @Nullable Object value, String path, int depth) {
        if (depth > MAX_DEPTH || left-- <= 0) {
            return Optional.empty();
        }
        if (schema.get("$ref") instanceof String reference) {
            Map<String, @Nullable Object> target = referred(reference);
            Optional<String> problem = problem(target, value, path, depth + 1);
            if (problem.isPresent() || target.isEmpty() || isAlone()) {
                return problem;
            }
        }
        String place = path.isEmpty() ? "arguments" : path;
        List<String> types = texts(schema.get("type"));
        if (!types.isEmpty() && types.stream().noneMatch(type -> isOf(type, value))) {
            return Optional.of(place + ": wrong type (expected: " + String.join(" or ", types) + ")");
        }
        if (schema.get("enum") instanceof List<?> values && values.stream().noneMatch(each -> isSame(each, value))) {
            return Optional.of(place + ": unknown value (expected: one of "
                    + values.subList(0, Math.min(MAX_SHOWN, values.size())) + ")");
        }
        if (schema.containsKey("const") && !isSame(schema.get("const"), value)) {
            return Optional.of(place + ": wrong value (expected: " + schema.get("const") + ")");
        }
        return switch (value) {
            case String text -> size(schema, place, "Length", text.codePointCount(0, text.length()), "characters");
            case Number number -> range(schema, place, number.doubleValue());
            case List<?> list ->
                size(schema, place, "Items", list.size(), "items").or(() -> items(schema, list, path, depth));
            case Map<?, ?> map -> members(schema, Trees.map(map), path, depth);
            case null, default -> Optional.empty();
        };
    }

    /** Whether keywords beside a reference have no effect, as in the drafts before 2019. */
    private boolean isAlone() {
        return String.valueOf(root.get("$schema")).contains("draft-0");
    }

    /** The schema that a reference of this schema names; empty for one elsewhere, by an anchor, or of nothing. */
    private Map<String, @Nullable Object> referred(String reference) {
        if (!reference.equals("#") && !reference.startsWith("#/")) {
            return Map.of();
        }
        String pointer;
        try {
            pointer = URLDecoder.decode(reference.substring(1).replace("+", "%2B"), UTF_8);
        } catch (IllegalArgumentException malformed) {
            return Map.of();
        }
        Object target = root;
        if (!pointer.isEmpty()) {
            for (String token : pointer.substring(1).split("/", -1)) {
                String name = token.replace("~1", "/").replace("~0", "~");
                target = target instanceof List<?> list
                        ? name.matches("[0-9]{1,6}") && Integer.parseInt(name) < list.size()
                                ? list.get(Integer.parseInt(name))
                                : null
                        : Trees.map(target).get(name);
            }
        }
        return Trees.map(target);
    }

    private Optional<String> items(Map<String, @Nullable Object> schema, List<?> list, String path, int depth) {
        if (!(schema.get("items") instanceof Map<?, ?> items) || schema.containsKey("prefixItems")) {
            return Optional.empty();
        }
        return IntStream.range(0, list.size())
                .mapToObj(i -> problem(Trees.map(items), list.get(i), path + "[" + i + "]", depth + 1))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private Optional<String> members(
            Map<String, @Nullable Object> schema, Map<String, @Nullable Object> object, String path, int depth) {
        String begin = path.isEmpty() ? "" : path + ".";
        Map<String, @Nullable Object> properties = Trees.map(schema.get("properties"));
        Stream<String> missing = texts(schema.get("required")).stream()
                .filter(name -> !object.containsKey(name))
                .map(name -> begin + name + ": missing" + expected(Trees.map(properties.get(name))));
        boolean isClosed =
                Boolean.FALSE.equals(schema.get("additionalProperties")) && !schema.containsKey("patternProperties");
        Stream<String> wrong = object.entrySet().stream().flatMap(member -> {
            String name = begin + member.getKey();
            if (!properties.containsKey(member.getKey())) {
                return isClosed
                        ? Stream.of(name + ": unknown (expected: one of "
                                + properties.keySet().stream().limit(MAX_SHOWN).toList() + ")")
                        : Stream.empty();
            }
            return problem(Trees.map(properties.get(member.getKey())), member.getValue(), name, depth + 1).stream();
        });
        return Stream.concat(missing, wrong).findFirst();
    }

    private String expected(Map<String, @Nullable Object> schema) {
        Map<String, @Nullable Object> typed =
                schema.get("$ref") instanceof String reference && !schema.containsKey("type")
                        ? referred(reference)
                        : schema;
        List<String> types = texts(typed.get("type"));
        return types.isEmpty() ? "" : " (expected: " + String.join(" or ", types) + ")";
    }

    private static Optional<String> size(
            Map<String, @Nullable Object> schema, String place, String keyword, int size, String unit) {
        if (schema.get("min" + keyword) instanceof Number least && size < least.doubleValue()) {
            return Optional.of(place + ": " + size + " " + unit + " (expected: at least " + least + ")");
        }
        return schema.get("max" + keyword) instanceof Number most && size > most.doubleValue()
                ? Optional.of(place + ": " + size + " " + unit + " (expected: at most " + most + ")")
                : Optional.empty();
    }

    private static Optional<String> range(Map<String, @Nullable Object> schema, String place, double value) {
        if (schema.get("minimum") instanceof Number least && value < least.doubleValue()) {
            return Optional.of(place + ": too small (expected: at least " + least + ")");
        }
        return schema.get("maximum") instanceof Number most && value > most.doubleValue()
                ? Optional.of(place + ": too large (expected: at most " + most + ")")
                : Optional.empty();
    }

    private static List<String> texts(@Nullable Object value) {
        return value instanceof String text
                ? List.of(text)
                : Trees.list(value).stream()
                        .filter(String.class::isInstance)
                        .map(String.class::cast)
                        .toList();
    }

    private static boolean isOf(String type, @Nullable Object value) {
        return switch (type) {
            case "object" -> value instanceof Map<?, ?>;
            case "array" -> value instanceof List<?>;
            case "string" -> value instanceof String;
            case "number" -> value instanceof Number;
            case "integer" -> value instanceof Number number && isInteger(number);
            case "boolean" -> value instanceof Boolean;
            case "null" -> value == null;
            default -> true; // no type of JSON: the schema is wrong, not the argument
        };
    }

    private static boolean isInteger(Number number) {
        return number instanceof Integer
                || number instanceof Long
                || number instanceof BigInteger
                || number.doubleValue() == Math.rint(number.doubleValue());
    }

    private static boolean isSame(@Nullable Object allowed, @Nullable Object value) {
        return allowed instanceof Number one && value instanceof Number other
                ? one.doubleValue() == other.doubleValue()
                : allowed == null ? value == null : allowed.equals(value);
    }
}
