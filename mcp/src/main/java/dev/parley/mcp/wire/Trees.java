package dev.parley.mcp.wire;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Access to JSON as maps and lists. */
public final class Trees {
    private Trees() {}

    /** An object with members in their order. */
    public static Map<String, @Nullable Object> object(@Nullable Object... members) {
        var object = new LinkedHashMap<String, @Nullable Object>();
        for (int i = 0; i < members.length; i += 2) {
            object.put((String) members[i], members[i + 1]);
        }
        return object;
    }

    /** A copy with another member. */
    public static Map<String, @Nullable Object> with(
            Map<String, @Nullable Object> object, String name, @Nullable Object value) {
        var copy = new LinkedHashMap<>(object);
        copy.put(name, value);
        return copy;
    }

    /** An object; empty if the value is none. */
    @SuppressWarnings("unchecked") // objects of JSON have texts as names
    public static Map<String, @Nullable Object> map(@Nullable Object value) {
        return value instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : Map.of();
    }

    /** A list; empty if the value is none. */
    public static List<?> list(@Nullable Object value) {
        return value instanceof List<?> list ? list : List.of();
    }

    /** A text; null if the value is none. */
    public static @Nullable String text(@Nullable Object value) {
        return value instanceof String text ? text : null;
    }

    /** Objects by name; members of other types are left out. */
    public static Map<String, Map<String, @Nullable Object>> objects(@Nullable Object value) {
        var objects = new LinkedHashMap<String, Map<String, @Nullable Object>>();
        map(value).forEach((name, member) -> {
            if (member instanceof Map<?, ?>) {
                objects.put(name, map(member));
            }
        });
        return objects;
    }
}
