package dev.parley.knowledge.api;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Immutable copies for records. */
final class Copies {
    private Copies() {}

    /**
     * Returns an unmodifiable copy that keeps the order and allows null values, as JSON objects do. A map that was returned before
     * is its own copy, so that many statements share one.
     */
    static Map<String, @Nullable Object> of(Map<String, @Nullable Object> map) {
        if (map.isEmpty()) {
            return Map.of();
        }
        return map instanceof Copy ? map : new Copy(Collections.unmodifiableMap(new LinkedHashMap<>(map)));
    }

    private static final class Copy extends AbstractMap<String, @Nullable Object> {
        private final Map<String, @Nullable Object> members;

        Copy(Map<String, @Nullable Object> members) {
            this.members = members;
        }

        @Override
        public Set<Entry<String, @Nullable Object>> entrySet() {
            return members.entrySet();
        }

        @Override
        public boolean containsKey(@Nullable Object name) {
            return members.containsKey(name);
        }

        @Override
        public @Nullable Object get(@Nullable Object name) {
            return members.get(name);
        }
    }
}
