package dev.parley.mcp.hub;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Objects of JSON with members in their order. */
final class JsonObject {
    private JsonObject() {}

    /** An object of names and values in turn. Members with the value null are left out. */
    static Map<String, @Nullable Object> of(@Nullable Object... members) {
        var object = new LinkedHashMap<String, @Nullable Object>();
        for (int i = 0; i < members.length; i += 2) {
            if (members[i + 1] != null) {
                object.put(String.valueOf(members[i]), members[i + 1]);
            }
        }
        return object;
    }

    /** A member that is an object; empty if it is none. */
    static Map<String, @Nullable Object> object(Map<String, ? extends @Nullable Object> parent, String name) {
        return of(parent.get(name));
    }

    /** A value as an object; empty if it is none. */
    static Map<String, @Nullable Object> of(@Nullable Object value) {
        var object = new LinkedHashMap<String, @Nullable Object>();
        if (value instanceof Map<?, ?> map) {
            map.forEach((name, member) -> object.put(String.valueOf(name), member));
        }
        return object;
    }

    /** A member that is a text and not empty; else null. */
    static @Nullable String text(Map<String, ? extends @Nullable Object> parent, String name) {
        return parent.get(name) instanceof String text && !text.isEmpty() ? text : null;
    }
}
