package dev.parley.hub;

import dev.parley.server.Server;

/**
 * Loads the classes of the server on a thread of its own, while the hub opens its store: half of a start is loading classes.
 *
 * <p>Those of the store and of the server have no class in common whose initialization leads to the other half, and what
 * starts the server waits until this is done.
 */
final class Preparation {
    private static final System.Logger LOG = System.getLogger("dev.parley.hub");
    private static final Thread THREAD =
            Thread.ofPlatform().daemon().name("hub-preparation").unstarted(Preparation::run);

    private Preparation() {}

    static synchronized void begin() {
        if (THREAD.getState() == Thread.State.NEW) {
            THREAD.start();
        }
    }

    /** Waits until the classes are loaded, or could not be. */
    static void await() {
        try {
            THREAD.join();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static void run() {
        try {
            Server.prepare();
        } catch (RuntimeException | LinkageError failure) {
            LOG.log(System.Logger.Level.DEBUG, "loading in advance failed; the start reports it", failure);
        }
    }
}
