package dev.parley.mcp.wire;

import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/** An object of JSON as peers in tests write it, also one that no codec would. */
public final class RawJson extends LinkedHashMap<String, @Nullable Object> {
    private static final long serialVersionUID = 1;

    /** This object with another member; without it if the value is null. */
    public RawJson with(String name, @Nullable Object value) {
        if (value != null) {
            put(name, value);
        }
        return this;
    }
}
