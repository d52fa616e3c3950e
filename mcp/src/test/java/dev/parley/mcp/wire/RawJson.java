package dev.parley.mcp.wire;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Objects of JSON as peers in tests write them, also those that no codec would. */
public final class RawJson {
    private RawJson() {}

    /** An object of alternating names and values, without those that are null. */
    public static Map<String, @Nullable Object> members(@Nullable Object... members) {
        var object = new LinkedHashMap<String, @Nullable Object>();
        for (int i = 0; i < members.length; i += 2) {
            object.put((String) members[i], members[i + 1]);
        }
        object.values().removeIf(Objects::isNull);
        return object;
    }
}
