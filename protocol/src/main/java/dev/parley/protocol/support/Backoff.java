package dev.parley.protocol.support;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Pauses between attempts: a random time up to a bound that doubles with every failure, so that many clients
 * that failed together do not come back together.
 *
 * @param first the bound after one failure
 * @param longest largest bound
 */
public record Backoff(Duration first, Duration longest) {
    public Backoff {
        if (first.isNegative() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "backoff: " + first + " to " + longest + " (expected: not negative, growing)");
        }
    }

    /** The bound after so many failures in a row. */
    public Duration bound(int failures) {
        long factor = 1L << Math.min(failures - 1, 20);
        return first.toNanos() > longest.toNanos() / factor ? longest : first.multipliedBy(factor);
    }

    /** @param atLeast wait that the other side asked for, to which the random wait is added; null if it asked for none */
    public Duration after(int failures, @Nullable Duration atLeast) {
        long bound = bound(failures).toNanos();
        long random = bound == 0 ? 0 : ThreadLocalRandom.current().nextLong(bound + 1);
        return atLeast == null ? Duration.ofNanos(random) : atLeast.plusNanos(Math.min(random, first.toNanos()));
    }
}
