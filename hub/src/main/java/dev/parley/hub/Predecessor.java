package dev.parley.hub;

import dev.parley.store.spi.Ending;
import org.jspecify.annotations.Nullable;

/**
 * What refuses requests until a hub takes its place: a hub that has ended, or ports that wait for a hub.
 *
 * @param ending null if there was no hub
 * @param number of the hub in its database of PostgreSQL; 0 for none
 * @param port 0 for none
 * @param adminPort port for operators, or that for all
 * @param lostGroups acknowledged transactions that it and those before it have lost
 * @param awaitParts waits until its parts are closed, for some seconds at most
 * @param close closes its ports
 */
record Predecessor(
        @Nullable Ending ending,
        long number,
        int port,
        int adminPort,
        long lostGroups,
        Runnable awaitParts,
        Runnable close) {}
