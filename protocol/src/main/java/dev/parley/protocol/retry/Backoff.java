package dev.parley.protocol.retry;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Pauses between the attempts of a recovery: a random time between a floor and a bound, which grows with every failure in a row. The
 * random part keeps clients that failed together from coming back together. The caller counts the failures, and begins again at one only
 * after progress. Every recovery of the product has its constant of this type, or derives it from a setting.
 *
 * @param first the bound after one failure
 * @param longest largest bound
 * @param floor part of the bound that a pause has at least
 */
public record Backoff(Duration first, Duration longest, Growth growth, double floor) {
    /** Growth of the bound: by the first one with each failure, or by doubling it. */
    public enum Growth {
        LINEAR,
        EXPONENTIAL
    }

    public Backoff {
        requireNonNull(growth, "growth");
        if (first.isNegative() || longest.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "backoff: " + first + " to " + longest + " (expected: not negative, growing)");
        }
    }

    /** Pauses of at least half of a bound that doubles. */
    public Backoff(Duration first, Duration longest) {
        this(first, longest, Growth.EXPONENTIAL, 0.5);
    }

    /** Pauses of {@code first}, twice, three or four times that and so on, up to {@code longest}, give or take a fifth. */
    public static Backoff around(Duration first, Duration longest, Growth growth) {
        return new Backoff(
                first.multipliedBy(6).dividedBy(5), longest.multipliedBy(6).dividedBy(5), growth, 2 / 3.0);
    }

    /** The bound after so many failures in a row. */
    public Duration bound(int failures) {
        long factor = growth == Growth.LINEAR ? failures : 1L << Math.min(failures - 1, 20);
        return first.toNanos() > longest.toNanos() / factor ? longest : first.multipliedBy(factor);
    }

    /**
     * The pause after so many failures in a row.
     *
     * @param wanted pause that the other side asked for: a longer one than the floor is kept, and a part of {@link #first} added; null if it
     *     asked for none
     */
    public Duration after(int failures, @Nullable Duration wanted) {
        return after(failures, wanted, ThreadLocalRandom.current().nextDouble());
    }

    /** The same with a random part of one's own, from 0 to 1. */
    public Duration after(int failures, @Nullable Duration wanted, double share) {
        long bound = bound(failures).toNanos();
        long least = Math.round(bound * floor);
        long random = Math.round(share * (bound - least));
        return wanted == null || wanted.toNanos() <= least
                ? Duration.ofNanos(least + random)
                : wanted.plusNanos(Math.min(random, first.toNanos()));
    }
}
