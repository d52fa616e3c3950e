package dev.parley.trust.tokens;

import dev.parley.protocol.support.LruMap;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Rate-limits wrong secrets: after too many of them, attempts are refused for the rest of the minute.
 *
 * <p>Attempts are counted for each client and address, so that guesses block only the client that they name, and only at the
 * address that they come from. Safe for any thread.
 */
public final class Guesses {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final int MOST_KEPT = 10_000;

    /** @param client null for all that are not known */
    public record Who(String address, @Nullable String client) {}

    private record Wrong(Instant since, int times) {}

    private final ForwardClock clock;
    private final int limit;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Who, Wrong> wrong = new LruMap<>(MOST_KEPT);

    /** @param limit how many wrong ones in a minute are too many */
    public Guesses(InstantSource clock, int limit) {
        this.clock = new ForwardClock(clock);
        this.limit = limit;
    }

    /** How long not to listen to {@code who}; zero if it may try. */
    public Duration pause(Who who) {
        lock.lock();
        try {
            Wrong before = wrong.get(who);
            if (before == null) {
                return Duration.ZERO;
            }
            Duration left = Duration.between(clock.instant(), before.since().plus(WINDOW));
            if (!left.isPositive()) {
                wrong.remove(who);
                return Duration.ZERO;
            }
            return before.times() < limit ? Duration.ZERO : left;
        } finally {
            lock.unlock();
        }
    }

    public void wrong(Who who) {
        lock.lock();
        try {
            wrong.merge(who, new Wrong(clock.instant(), 1), (one, more) -> new Wrong(one.since(), one.times() + 1));
        } finally {
            lock.unlock();
        }
    }
}
