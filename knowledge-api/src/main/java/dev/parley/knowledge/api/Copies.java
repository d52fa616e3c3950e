package dev.parley.knowledge.api;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Immutable copies for records. */
final class Copies {
    private Copies() {}

    /** Returns an unmodifiable copy that keeps the order and allows null values, as JSON objects do. */
    static Map<String, @Nullable Object> of(Map<String, @Nullable Object> map) {
        return map.isEmpty() ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }
}
