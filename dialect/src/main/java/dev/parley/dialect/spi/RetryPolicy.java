package dev.parley.dialect.spi;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Decides about further attempts to deliver a notification. Safe for any thread. */
@FunctionalInterface
public interface RetryPolicy {
    /**
     * The pause before the next attempt, unless the receiver names one by {@code Retry-After}; null to give up. A server waits for an
     * hour at most, and gives up after 12 attempts in any case.
     *
     * @param failures attempts that have failed, from 1
     */
    @Nullable
    Duration pause(int failures);

    /** Pauses of {@code first}, twice, three times that …, give or take a fifth. */
    static RetryPolicy linear(int retries, Duration first, Duration longest) {
        return failures -> failures > retries ? null : jittered(first.multipliedBy(failures), longest);
    }

    /** Pauses of {@code first}, twice, four times that …, give or take a fifth. */
    static RetryPolicy exponential(int retries, Duration first, Duration longest) {
        return failures ->
                failures > retries ? null : jittered(first.multipliedBy(1L << Math.min(failures - 1, 20)), longest);
    }

    private static Duration jittered(Duration pause, Duration longest) {
        long millis = Math.min(pause.toMillis(), longest.toMillis());
        return Duration.ofMillis(millis + ThreadLocalRandom.current().nextLong(-millis / 5, millis / 5 + 1));
    }
}
