package dev.parley.protocol.support;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Pauses between the attempts of a recovery: a random time between half of a bound and the bound, which doubles with every failure in
 * a row. The half is the floor; the random part keeps clients that failed together from coming back together. The caller counts the
 * failures, and begins again at one only after progress. Every recovery of the product has its constant of this type, or derives it from
 * a setting.
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

    /**
     * The pause after so many failures in a row.
     *
     * @param wanted pause that the other side asked for: a longer one than the floor is kept, and a part of {@link #first} added; null if it
     *     asked for none
     */
    public Duration after(int failures, @Nullable Duration wanted) {
        return after(failures, wanted, ThreadLocalRandom.current().nextDouble());
    }

    /**
     * The same with a random part of one's own.
     *
     * @param share at least 0 and less than 1
     */
    public Duration after(int failures, @Nullable Duration wanted, double share) {
        long bound = bound(failures).toNanos();
        long floor = bound / 2;
        long random = (long) (share * (bound - floor + 1));
        return wanted == null || wanted.toNanos() <= floor
                ? Duration.ofNanos(floor + random)
                : wanted.plusNanos(Math.min(random, first.toNanos()));
    }
}
