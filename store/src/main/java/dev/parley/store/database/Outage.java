package dev.parley.store.database;

import dev.parley.protocol.support.Backoff;
import java.time.Duration;

/**
 * The database cannot be written.
 *
 * @param failures in a row
 * @param retryAt of {@link System#nanoTime}
 */
record Outage(Exception cause, int failures, long retryAt) {
    /** Pauses between attempts to write while the database fails. */
    static final Backoff PAUSES = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1));

    static Outage after(int failures, Exception cause) {
        return new Outage(
                cause, failures, System.nanoTime() + PAUSES.bound(failures).toNanos());
    }

    long nanosToRetry() {
        return retryAt - System.nanoTime();
    }
}
