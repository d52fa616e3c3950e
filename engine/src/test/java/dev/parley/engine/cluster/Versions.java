package dev.parley.engine.cluster;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A table of which each earlier state can be read and be brought back. */
final class Versions<K, V> {
    private final Map<K, TreeMap<Long, Optional<V>>> rows = new LinkedHashMap<>();

    /** Returns a row as it is after the commit {@code at}; null if there is none. */
    @Nullable
    V get(K key, long at) {
        TreeMap<Long, Optional<V>> versions = rows.get(key);
        Map.Entry<Long, Optional<V>> newest = versions == null ? null : versions.floorEntry(at);
        return newest == null ? null : newest.getValue().orElse(null);
    }

    /** Writes a row by a commit; null removes it. */
    void put(K key, long commit, @Nullable V row) {
        rows.computeIfAbsent(key, any -> new TreeMap<>()).put(commit, Optional.ofNullable(row));
    }

    /** The rows after a commit, in the order of their first ones. */
    Stream<V> values(long at) {
        return rows.keySet().stream().map(key -> get(key, at)).filter(Objects::nonNull);
    }

    /** Takes back what was written after a commit, and returns the keys of the rows that have changed. */
    Set<K> dropAfter(long commit) {
        Set<K> changed = rows.entrySet().stream()
                .filter(row -> row.getValue().lastKey() > commit)
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        changed.forEach(key -> {
            TreeMap<Long, Optional<V>> versions = rows.get(key);
            if (versions != null) {
                versions.tailMap(commit, false).clear();
            }
        });
        rows.values().removeIf(TreeMap::isEmpty);
        return changed;
    }
}
