package dev.parley.knowledge.store;

import java.util.OptionalLong;
import java.util.UUID;

/**
 * Ids of the changes of a group, unique among all groups of all databases. Source: RFC 9562, section 5.8: UUIDs whose bits are ours, here
 * those of the database, the space and the change's number.
 *
 * @param instance random number of the database
 * @param space number of the group in rows
 * @param plain newest change whose id does not have the space: it was made when all groups of a database shared their numbers
 */
record ChangeIds(long instance, long space, long plain) {
    private static final long VERSION = 0xF000L;
    private static final long VERSION_8 = 0x8000L;
    private static final long LOWEST = 0xFFFL;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    String id(long number) {
        return new UUID(number > plain ? prefix() : databasePrefix(), number | VARIANT).toString();
    }

    /** Returns the number of the change with an id; empty if the id is not one of this group. */
    OptionalLong number(String id) {
        UUID uuid;
        try {
            uuid = UUID.fromString(id);
        } catch (IllegalArgumentException noUuid) {
            return OptionalLong.empty();
        }
        long prefix = uuid.getMostSignificantBits();
        return prefix == prefix() || prefix == databasePrefix()
                ? OptionalLong.of(uuid.getLeastSignificantBits() & ~VARIANT)
                : OptionalLong.empty();
    }

    private long databasePrefix() {
        return instance & ~VERSION | VERSION_8;
    }

    /** The bits of the space stand beside those of the version. */
    private long prefix() {
        return databasePrefix() ^ (space & LOWEST | (space & ~LOWEST) << 4);
    }
}
