package dev.parley.extension;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON Schemas of answers, written down briefly. */
public final class AnswerSchema {
    public static final Map<String, Object> TEXT = Map.of("type", "string");
    public static final Map<String, Object> TIME = Map.of("type", "string", "format", "date-time");
    public static final Map<String, Object> COUNT = Map.of("type", "integer");
    public static final Map<String, Object> TRUTH = Map.of("type", "boolean");
    public static final Map<String, Object> TEXTS = list(TEXT);

    /** An object of any members. */
    public static final Map<String, Object> ANY = Map.of("type", "object");

    public static final Map<String, Object> NOTHING = object();

    private AnswerSchema() {}

    public static Map<String, Object> list(Map<String, Object> items) {
        return Map.of("type", "array", "items", items);
    }

    /**
     * An object.
     *
     * @param namesAndSchemas the members, in the order in which they are shown: one name, or several of one schema with blanks between,
     *     and the schema; a member whose name ends in {@code ?} may be missing
     */
    public static Map<String, Object> object(Object... namesAndSchemas) {
        var properties = new LinkedHashMap<String, Object>();
        var required = new ArrayList<String>();
        for (int i = 0; i < namesAndSchemas.length; i += 2) {
            for (String name : namesAndSchemas[i].toString().split(" ", -1)) {
                properties.put(name.replace("?", ""), namesAndSchemas[i + 1]);
                if (!name.endsWith("?")) {
                    required.add(name);
                }
            }
        }
        return Map.of("type", "object", "properties", properties, "required", List.copyOf(required));
    }

    /**
     * An object with such a schema.
     *
     * @param values of all members, in the order of the schema; members that may be missing are left out if they are null or empty
     */
    public static Map<String, Object> answer(Map<String, Object> schema, @Nullable Object... values) {
        var names = List.copyOf(((Map<?, ?>) requireNonNull(schema.get("properties"))).keySet());
        var required = (List<?>) requireNonNull(schema.get("required"));
        if (names.size() != values.length) {
            throw new IllegalArgumentException(values.length + " values (expected: " + names.size() + ")");
        }
        var answer = new LinkedHashMap<String, Object>();
        for (int i = 0; i < values.length; i++) {
            Object value = values[i] instanceof Instant time ? time.toString() : values[i];
            String name = names.get(i).toString();
            if (required.contains(name)) {
                answer.put(name, requireNonNull(value, name));
            } else if (value != null && !value.equals("") && !value.equals(Map.of())) {
                answer.put(name, value);
            }
        }
        return answer;
    }
}
