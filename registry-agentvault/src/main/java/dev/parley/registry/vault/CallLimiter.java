package dev.parley.registry.vault;

import dev.parley.protocol.support.LruMap;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** Limits the calls of each address and route in a minute. Safe for any thread. */
final class CallLimiter {
    static final int LIMIT = 100;

    private static final int MOST_KEPT = 50_000;
    private static final long WINDOW_SECONDS = 60;

    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Count> counts = new LruMap<>(MOST_KEPT);

    private record Count(Instant since, int calls) {}

    CallLimiter(InstantSource clock) {
        this.clock = clock;
    }

    /** @throws VaultException 429 for a call beyond the limit */
    void count(String address, String route) {
        Instant now = clock.instant();
        lock.lock();
        try {
            Count count = counts.merge(
                    address + " " + route,
                    new Count(now, 1),
                    (before, one) -> before.since().plusSeconds(WINDOW_SECONDS).isAfter(now)
                            ? new Count(before.since(), before.calls() + 1)
                            : one);
            if (count.calls() > LIMIT) {
                throw VaultException.tooManyRequests(LIMIT);
            }
        } finally {
            lock.unlock();
        }
    }
}
