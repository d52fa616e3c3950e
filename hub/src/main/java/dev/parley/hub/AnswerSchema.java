package dev.parley.hub;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON Schemas of answers, written down briefly. */
final class AnswerSchema {
    static final Map<String, Object> TEXT = Map.of("type", "string");
    static final Map<String, Object> TIME = Map.of("type", "string", "format", "date-time");
    static final Map<String, Object> COUNT = Map.of("type", "integer");
    static final Map<String, Object> TRUTH = Map.of("type", "boolean");
    static final Map<String, Object> TEXTS = list(TEXT);

    /** An object of any members. */
    static final Map<String, Object> ANY = Map.of("type", "object");

    static final Map<String, Object> NOTHING = object();

    private AnswerSchema() {}

    static Map<String, Object> list(Map<String, Object> items) {
        return Map.of("type", "array", "items", items);
    }

    /**
     * An object.
     *
     * @param namesAndSchemas the members, in the order in which they are shown; a name that ends in {@code ?} may be missing
     */
    static Map<String, Object> object(Object... namesAndSchemas) {
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
