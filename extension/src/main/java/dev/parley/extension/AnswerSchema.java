package dev.parley.extension;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
     * @param namesAndSchemas the members, in the order in which they are shown; a name that ends in {@code ?} may be missing
     */
    public static Map<String, Object> object(Object... namesAndSchemas) {
        var properties = new LinkedHashMap<String, Object>();
        var required = new ArrayList<String>();
        for (int i = 0; i < namesAndSchemas.length; i += 2) {
            String name = namesAndSchemas[i].toString();
            properties.put(name.replace("?", ""), namesAndSchemas[i + 1]);
            if (!name.endsWith("?")) {
                required.add(name);
            }
        }
        return Map.of("type", "object", "properties", properties, "required", List.copyOf(required));
    }
}
