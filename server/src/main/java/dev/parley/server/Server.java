package dev.parley.server;

import dev.parley.dialect.Dialects;

/** A running HTTP server: agents behind a port. Safe for any thread. */
public interface Server extends Site {
    /** Returns a builder; its {@link ServerBuilder#start()} opens the port. */
    static ServerBuilder builder(Dialects dialects) {
        return new ServerBuilder(dialects);
    }

    /**
     * Loads the classes of a server, on the calling thread, so that the next {@link ServerBuilder#start()} takes less time. Has
     * no other effect.
     */
    static void prepare() {
        HttpServer.prepare();
    }

    /** The port that was bound. */
    int port();
}
