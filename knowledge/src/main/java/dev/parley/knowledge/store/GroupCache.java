package dev.parley.knowledge.store;

import com.github.benmanes.caffeine.cache.Cache;
import dev.parley.protocol.InvalidField;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Cached data of a group.
 *
 * @param number of the group in rows; {@link #NO_NUMBER} if it has none
 * @param instance prefix of all ids of changes in this database
 * @param defaultCertainty certainty of statements without one, by the number of their graph
 * @param provenance cache of {@code kg_provenance}, whose rows change only by erasure
 */
public record GroupCache(
        long number,
        long instance,
        Map<Long, Double> defaultCertainty,
        Cache<Long, Map<String, @Nullable Object>> provenance) {
    /** In no row. */
    static final long NO_NUMBER = -1;

    private static final long VERSION_8 = 0x8000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    /** True if nothing was ever written to the group's graph. */
    public boolean isEmpty() {
        return number == NO_NUMBER;
    }

    /** The same, with an empty memory. */
    GroupCache remembering(Cache<Long, Map<String, @Nullable Object>> memory) {
        return new GroupCache(number, instance, defaultCertainty, memory);
    }

    /** Source: RFC 9562, section 5.8: a UUID whose bits are ours, here those of the database and the change's number. */
    public String changeId(long number) {
        return new UUID(instance & ~0xF000L | VERSION_8, number | VARIANT).toString();
    }

    /** True if this is the id of a change of this database. */
    boolean hasMade(String id) {
        return idOf(id) != null;
    }

    /**
     * Returns the number of a change.
     *
     * @throws InvalidField if it is not one of this database
     */
    public long changeNumber(String id) {
        UUID uuid = idOf(id);
        if (uuid == null) {
            throw InvalidField.of("metadata.afterChangeId", id + " (expected: the changeId of a change of this graph)");
        }
        return uuid.getLeastSignificantBits() & ~VARIANT;
    }

    private @Nullable UUID idOf(String id) {
        try {
            UUID uuid = UUID.fromString(id);
            return uuid.getMostSignificantBits() == (instance & ~0xF000L | VERSION_8) ? uuid : null;
        } catch (IllegalArgumentException noUuid) {
            return null; // whatever it is, it is none of ours
        }
    }
}
