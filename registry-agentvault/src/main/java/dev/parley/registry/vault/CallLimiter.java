package dev.parley.registry.vault;

import dev.parley.protocol.support.LruMap;
import dev.parley.protocol.support.Sha256;
import dev.parley.trust.shared.Buckets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Limits the calls of each address and route in a minute. Hubs that share a database count them together, in minutes of its clock. Safe for
 * any thread.
 */
final class CallLimiter {
    static final int LIMIT = 100;

    private static final int MOST_KEPT = 50_000;
    private static final long WINDOW_SECONDS = 60;

    private final InstantSource clock;
    private final @Nullable Buckets buckets;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Count> counts = new LruMap<>(MOST_KEPT);
    /** Minutes of calls that were refused: further ones are refused without a look at the database. */
    private final Map<String, Long> full = new LruMap<>(MOST_KEPT);

    private record Count(Instant since, int calls) {}

    /** @param buckets of the hubs that share a database; null for a hub that has it alone */
    CallLimiter(InstantSource clock, @Nullable Buckets buckets) {
        this.clock = clock;
        this.buckets = buckets;
    }

    /** @throws VaultException 429 for a call beyond the limit */
    void count(String address, String route) {
        if (buckets != null) {
            borrow(buckets, Sha256.hex(address + " " + route)); // addresses are personal data
            return;
        }
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

    /** Borrows the calls one by one: so few of them in a minute that no hub may keep some. */
    private void borrow(Buckets lender, String account) {
        long minute = clock.instant().getEpochSecond() / WINDOW_SECONDS;
        if (isFull(account, minute)) {
            throw VaultException.tooManyRequests(LIMIT);
        }
        if (lender.ofWindow(account, minute, LIMIT, 1).calls() < 1) {
            lock.lock();
            try {
                full.put(account, minute);
            } finally {
                lock.unlock();
            }
            throw VaultException.tooManyRequests(LIMIT);
        }
    }

    private boolean isFull(String account, long minute) {
        lock.lock();
        try {
            Long refused = full.get(account);
            return refused != null && refused >= minute;
        } finally {
            lock.unlock();
        }
    }
}
