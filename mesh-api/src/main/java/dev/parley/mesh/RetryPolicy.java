package dev.parley.mesh;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.retry.Backoff.Growth;
import java.time.Duration;

/**
 * Number of repetitions of a failed delivery, and the waits before them.
 *
 * @param maxRetries attempts after the first, 0 to 10
 * @param backoff growth of the waits
 */
public record RetryPolicy(int maxRetries, Growth backoff) {
    /** Three further attempts, after 1, 2 and 4 s. */
    public static final RetryPolicy DEFAULT = new RetryPolicy(3, Growth.EXPONENTIAL);

    private static final int MOST_RETRIES = 10;
    private static final Duration UNIT = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final Backoff LINEAR = Backoff.around(UNIT, LONGEST, Growth.LINEAR);
    private static final Backoff EXPONENTIAL = Backoff.around(UNIT, LONGEST, Growth.EXPONENTIAL);

    public RetryPolicy {
        requireNonNull(backoff, "backoff");
        if (maxRetries < 0 || maxRetries > MOST_RETRIES) {
            throw InvalidField.of("maxRetries", maxRetries + " (expected: 0 to " + MOST_RETRIES + ")");
        }
    }

    /** The waits before the further attempts. */
    public Backoff pauses() {
        return switch (backoff) {
            case LINEAR -> LINEAR;
            case EXPONENTIAL -> EXPONENTIAL;
        };
    }
}
