package dev.parley.server.limits;

import dev.parley.protocol.support.LruMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Counts the requests of each address that were refused lately, so that the connections of a flood are known as such from
 * their first byte. Safe for any thread.
 */
public final class RefusedRequests {
    private static final int MOST_KEPT = 10_000;

    /** Requests of an address, refused in about a second, that are not a flood. */
    private static final int SPARED = 64;

    private static final long HALF_LIFE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Refused requests as of a time, from which on they count less and less. */
    private record Count(double requests, long nanos) {
        double at(long now) {
            return requests * Math.pow(0.5, (double) (now - nanos) / HALF_LIFE_NANOS);
        }
    }

    private final Map<String, Count> byAddress = new LruMap<>(MOST_KEPT);

    /** A request of the address was refused at a time of {@link System#nanoTime()}. */
    public synchronized void add(String address, long now) {
        byAddress.merge(address, new Count(1, now), (before, one) -> new Count(before.at(now) + one.requests(), now));
    }

    /** Whether there are so many of the address that its next requests are likely to be refused, too. */
    public synchronized boolean isFlood(String address, long now) {
        Count count = byAddress.get(address);
        return count != null && count.at(now) > SPARED;
    }
}
