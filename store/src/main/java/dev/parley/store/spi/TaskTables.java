package dev.parley.store.spi;

/**
 * The tables of tasks in a database, compared with those of this program.
 *
 * @param version of the tables
 * @param current version that this program writes
 * @param isUsable whether hubs of this program that share the database can work with the tables as they are: not with older ones, which
 *     the next start changes, and with those of a newer release until an operator has finished its upgrade
 */
public record TaskTables(long version, int current, boolean isUsable) {
    /** Whether an earlier release has made the tables, and the next start changes them. */
    public boolean isOlder() {
        return version < current;
    }

    /** Whether a later release has added to the tables. */
    public boolean isNewer() {
        return version > current;
    }
}
