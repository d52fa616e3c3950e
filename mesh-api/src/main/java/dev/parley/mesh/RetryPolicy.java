package dev.parley.mesh;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.InvalidField;
import java.time.Duration;

/**
 * How often, and after which waits, a delivery that failed is repeated.
 *
 * @param maxRetries attempts after the first, 0 to 10
 */
public record RetryPolicy(int maxRetries, Backoff backoff) {
    /** Growth of the waits. */
    public enum Backoff {
        LINEAR,
        EXPONENTIAL
    }

    /** Three further attempts, after 1, 2 and 4 s. */
    public static final RetryPolicy DEFAULT = new RetryPolicy(3, Backoff.EXPONENTIAL);

    private static final int MOST_RETRIES = 10;
    private static final Duration UNIT = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final double JITTER = 0.2;

    public RetryPolicy {
        requireNonNull(backoff, "backoff");
        if (maxRetries < 0 || maxRetries > MOST_RETRIES) {
            throw InvalidField.of("maxRetries", maxRetries + " (expected: 0 to " + MOST_RETRIES + ")");
        }
    }

    /**
     * The wait before an attempt.
     *
     * @param retry number of the attempt among the repetitions, from 1
     * @param random from 0 to 1; changes the wait by up to a fifth, so that senders do not repeat at the same time
     */
    public Duration before(int retry, double random) {
        long units = backoff == Backoff.LINEAR ? retry : 1L << Math.min(retry - 1, 30);
        double millis = Math.min(UNIT.toMillis() * (double) units, (double) LONGEST.toMillis());
        return Duration.ofMillis(Math.round(millis * (1 - JITTER + 2 * JITTER * random)));
    }
}
