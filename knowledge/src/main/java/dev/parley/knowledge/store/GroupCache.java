package dev.parley.knowledge.store;

import com.github.benmanes.caffeine.cache.Cache;
import dev.parley.protocol.InvalidField;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cached data of a group.
 *
 * @param number of the group in rows; {@link #NO_NUMBER} if it has none
 * @param ids of the group's changes
 * @param defaultCertainty certainty of statements without one, by the number of their graph
 * @param provenance cache of {@code kg_provenance}, whose rows change only by erasure
 */
public record GroupCache(
        long number,
        ChangeIds ids,
        Map<Long, Double> defaultCertainty,
        Cache<Long, Map<String, @Nullable Object>> provenance) {
    /** In no row. */
    static final long NO_NUMBER = -1;

    /** True if nothing was ever written to the group's graph. */
    public boolean isEmpty() {
        return number == NO_NUMBER;
    }

    /** The same, with an empty memory. */
    GroupCache remembering(Cache<Long, Map<String, @Nullable Object>> memory) {
        return new GroupCache(number, ids, defaultCertainty, memory);
    }

    public String changeId(long number) {
        return ids.id(number);
    }

    /** True if this is the id of a change of this graph. */
    boolean hasMade(String id) {
        return ids.number(id).isPresent();
    }

    /**
     * Returns the number of a change.
     *
     * @throws InvalidField if it is not one of this graph
     */
    public long changeNumber(String id) {
        return ids.number(id)
                .orElseThrow(() -> InvalidField.of(
                        "metadata.afterChangeId", id + " (expected: the changeId of a change of this graph)"));
    }
}
