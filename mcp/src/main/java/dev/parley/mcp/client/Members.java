package dev.parley.mcp.client;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Members of JSON objects of a server, which may have any type. */
public final class Members {
    private Members() {}

    public static @Nullable String text(Map<String, @Nullable Object> json, String name) {
        return json.get(name) instanceof String text ? text : null;
    }

    /** An object; empty if the member is missing or of another type. */
    public static Map<String, @Nullable Object> object(Map<String, @Nullable Object> json, String name) {
        return object(json.get(name));
    }

    /** The value as an object; empty for values of other types. */
    public static Map<String, @Nullable Object> object(@Nullable Object value) {
        if (!(value instanceof Map<?, ?> map)) {
            return Map.of();
        }
        var object = new LinkedHashMap<String, @Nullable Object>();
        map.forEach((key, member) -> object.put(String.valueOf(key), member));
        return object;
    }

    /** The objects of a list; other elements are left out. */
    public static List<Map<String, @Nullable Object>> objects(Map<String, @Nullable Object> json, String name) {
        return list(json, name).stream()
                .filter(Map.class::isInstance)
                .map(Members::object)
                .toList();
    }

    public static List<?> list(Map<String, @Nullable Object> json, String name) {
        return json.get(name) instanceof List<?> list ? list : List.of();
    }

    /** The texts of a list; other elements are left out. */
    public static List<String> texts(Map<String, @Nullable Object> json, String name) {
        return list(json, name).stream()
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .toList();
    }

    /** A number; the default for values of other types. */
    public static long number(Map<String, @Nullable Object> json, String name, long otherwise) {
        return json.get(name) instanceof Number number ? number.longValue() : otherwise;
    }

    /** An object with these members, names and values in turn; those with null as value are left out. */
    public static Map<String, @Nullable Object> of(@Nullable Object... namesAndValues) {
        var object = new LinkedHashMap<String, @Nullable Object>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            if (namesAndValues[i + 1] != null) {
                object.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
            }
        }
        return object;
    }
}
