package dev.parley.protocol.support;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * How long to wait before trying again: any time up to a bound that doubles with every failure, so that many clients
 * that failed together do not come back together.
 *
 * @param first the bound after one failure
 * @param longest what the bound grows to
 */
public record Backoff(Duration first, Duration longest) {
    public Backoff {
        if (first.isNegative() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "backoff: " + first + " to " + longest + " (expected: not negative, growing)");
        }
    }

    /** @param atLeast what the other side asked for, which the random wait comes on top of; null if it did not */
    public Duration after(int failures, @Nullable Duration atLeast) {
        long factor = 1L << Math.min(failures - 1, 20);
        long bound = first.toNanos() > longest.toNanos() / factor ? longest.toNanos() : first.toNanos() * factor;
        long random = bound == 0 ? 0 : ThreadLocalRandom.current().nextLong(bound + 1);
        return atLeast == null ? Duration.ofNanos(random) : atLeast.plusNanos(Math.min(random, first.toNanos()));
    }
}
