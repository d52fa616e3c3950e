package dev.parley.hub;

import dev.parley.store.spi.Ending;

/**
 * A hub that has ended, as the hub that replaces it sees it.
 *
 * @param port 0 for none
 * @param adminPort port for operators, or that for all
 * @param lostGroups acknowledged transactions that it and those before it have lost
 * @param awaitParts waits until its parts are closed, for some seconds at most
 * @param close closes its ports
 */
record Predecessor(Ending ending, int port, int adminPort, long lostGroups, Runnable awaitParts, Runnable close) {}
