package dev.parley.trust.tokens;

import dev.parley.protocol.support.LruMap;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rate-limits wrong secrets: after too many of them, attempts are refused for the rest of the minute.
 *
 * <p>Attempts are counted for each client and address, so that guesses block only the client that they name, and only at the
 * address that they come from. Safe for any thread.
 */
public final class SecretAttempts {
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final int MOST_KEPT = 10_000;

    /** @param client null for all unknown clients */
    public record Source(String address, @Nullable String client) {}

    private record Wrong(Instant since, int times) {}

    private final ForwardClock clock;
    private final int limit;
    private final Map<Source, Wrong> wrong = Collections.synchronizedMap(new LruMap<>(MOST_KEPT));

    /** @param limit of failed attempts in a minute */
    public SecretAttempts(InstantSource clock, int limit) {
        this.clock = new ForwardClock(clock);
        this.limit = limit;
    }

    /** Returns the time until the next accepted attempt of {@code source}; zero for now. */
    public Duration pause(Source source) {
        Wrong before = wrong.get(source);
        if (before == null) {
            return Duration.ZERO;
        }
        Duration left = Duration.between(clock.instant(), before.since().plus(WINDOW));
        if (!left.isPositive()) {
            wrong.remove(source, before);
            return Duration.ZERO;
        }
        return before.times() < limit ? Duration.ZERO : left;
    }

    /** Counts a failed attempt. */
    public void wrong(Source source) {
        wrong.merge(source, new Wrong(clock.instant(), 1), (one, more) -> new Wrong(one.since(), one.times() + 1));
    }
}
