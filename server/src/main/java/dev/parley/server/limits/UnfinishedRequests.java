package dev.parley.server.limits;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the HTTP/2 requests of all connections that have begun and not come in whole, each of which holds a thread.
 *
 * <p>When there are too many, connections with more than their share of them are ended. Nothing else bounds them before
 * their callers are authenticated: one connection may have a thousand.
 */
public final class UnfinishedRequests {
    /** A connection may always have this many. */
    private static final int SPARED = 8;

    private static final long BYTES_EACH = 32 * 1024;
    private static final int MOST = 65_536;

    private final int most;
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();

    /** Creates a limit of so many requests. */
    public UnfinishedRequests(int most) {
        this.most = most;
    }

    /** Returns a limit that suits a heap of this size. */
    public static UnfinishedRequests within(long heapBytes) {
        return new UnfinishedRequests((int) Math.min(MOST, heapBytes / BYTES_EACH));
    }

    /** The number of requests that have not come in whole. */
    public int count() {
        return requests.get();
    }

    /** The requests of one connection. Safe for any thread. */
    public final class Share {
        private int own;

        /** A request begins; returns false if the connection has too many. */
        public synchronized boolean begin() {
            if (own++ == 0) {
                connections.incrementAndGet();
            }
            var all = requests.incrementAndGet();
            return all <= most || own <= Math.max(SPARED, most / Math.max(1, connections.get()));
        }

        /** A request has come in whole, was reset, or ended with its connection. */
        public synchronized void end() {
            requests.decrementAndGet();
            if (--own == 0) {
                connections.decrementAndGet();
            }
        }
    }
}
