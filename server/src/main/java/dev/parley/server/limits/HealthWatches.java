package dev.parley.server.limits;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The open watches of gRPC health: few for each connection, and for all. They need no credentials, so they have places of
 * their own and take none of the streams of callers. Safe for any thread.
 */
public final class HealthWatches {
    private static final int MOST = 512;
    private static final int MOST_OF_CONNECTION = 8;

    private final OpenStreams open = new OpenStreams(MOST);

    /** The watches of one connection. */
    public final class Share {
        private final AtomicInteger own = new AtomicInteger();

        /** Stands for the group, which is unknown because watches need no credentials. */
        private final String connection = Integer.toHexString(System.identityHashCode(this));

        /** Returns false if there are too many watches already; nothing has happened then. */
        public boolean enter(EmptyStream watch) {
            if (own.incrementAndGet() <= MOST_OF_CONNECTION && open.enter(connection, watch)) {
                return true;
            }
            own.decrementAndGet();
            return false;
        }

        /** Gives the place of a watch back. */
        public void leave(EmptyStream watch) {
            open.leave(watch);
            own.decrementAndGet();
        }
    }

    /** The number of open watches. */
    public int count() {
        return open.count();
    }

    /** Closes all watches, and each that enters later. */
    public void endAll() {
        open.endAll();
    }
}
