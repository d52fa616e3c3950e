package dev.parley.store.database;

import java.time.Duration;

/**
 * The database cannot be written.
 *
 * @param pause before the next attempt
 * @param retryAt of {@link System#nanoTime}
 */
record Outage(Exception cause, Duration pause, long retryAt) {
    /** Pauses between attempts to write while the database fails: doubled from the first to the longest. */
    static final Duration FIRST_PAUSE = Duration.ofMillis(50);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    static Outage first(Exception cause) {
        return after(FIRST_PAUSE, cause);
    }

    static Outage after(Duration pause, Exception cause) {
        return new Outage(cause, pause, System.nanoTime() + pause.toNanos());
    }

    Outage again(Exception newCause) {
        return after(longer(pause), newCause);
    }

    static Duration longer(Duration pause) {
        Duration doubled = pause.multipliedBy(2);
        return doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
    }

    long nanosToRetry() {
        return retryAt - System.nanoTime();
    }
}
