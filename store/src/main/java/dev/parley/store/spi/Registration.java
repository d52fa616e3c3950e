package dev.parley.store.spi;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What a hub writes about itself into a database of PostgreSQL, for operators and for other hubs. SQLite ignores it.
 *
 * @param version of the program; empty if unknown
 * @param agents names of the agents that it hosts; asked for once a second, on a thread that it must not block
 * @param isShared whether other hubs may have the database open at the same time: one of them works with it, the others wait until it ends
 * @param before number of the hub that this one replaces in the same program; 0 for none
 * @param waits receives the name of the hub for which this one waits, each time that it is another one; must not block
 */
public record Registration(
        String version, Supplier<List<String>> agents, boolean isShared, long before, Consumer<String> waits) {
    /** A hub that has its database alone and tells nothing of itself. */
    public static final Registration ALONE = new Registration("", List::of, false, 0, name -> {});
}
