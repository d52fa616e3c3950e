package dev.parley.store.spi;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What a hub writes about itself into a database of PostgreSQL, for operators and for other hubs. SQLite ignores it.
 *
 * @param version of the program; empty if unknown
 * @param agents names of the agents that it hosts; asked for once a second, on a thread that it must not block
 * @param sharing whether other hubs may have the database open at the same time
 * @param before number of the hub that this one replaces in the same program; 0 for none
 * @param waits receives the name of the hub for which this one waits, each time that it is another one; must not block
 */
public record Registration(
        String version, Supplier<List<String>> agents, Sharing sharing, long before, Consumer<String> waits) {
    /** A hub that has its database alone and tells nothing of itself. */
    public static final Registration ALONE = new Registration("", List::of, Sharing.NONE, 0, name -> {});

    /** How a hub shares its database with other hubs. */
    public enum Sharing {
        /** It has the database alone. */
        NONE,
        /** It works if no other hub does, and waits until then. */
        IN_TURNS,
        /** It works at the same time as other hubs, except those that work in turns. */
        AT_ONCE
    }

    /** Whether other hubs may have the database open at the same time. */
    public boolean isShared() {
        return sharing != Sharing.NONE;
    }

    /** Whether other hubs may work with the database at the same time. */
    public boolean isAtOnce() {
        return sharing == Sharing.AT_ONCE;
    }
}
