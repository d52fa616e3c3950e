package dev.parley.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Clock for deciding what is old enough to be removed: a jump ahead by more than an hour counts only when it has lasted for an
 * hour, so that a clock that is wrong for a moment removes nothing. For one thread at a time.
 */
final class SteadyClock implements InstantSource {
    private static final Logger LOG = System.getLogger("dev.parley.engine");
    private static final Duration JUMP = Duration.ofHours(1);
    private static final Duration TRUSTED_AFTER = Duration.ofHours(1);

    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private Instant last;
    private long lastNanos;
    private @Nullable Long jumpNanos;

    SteadyClock(InstantSource clock, LongSupplier nanoTime) {
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.last = clock.instant();
        this.lastNanos = nanoTime.getAsLong();
    }

    @Override
    public Instant instant() {
        long nanos = nanoTime.getAsLong();
        Instant shown = clock.instant();
        Instant expected = last.plusNanos(nanos - lastNanos);
        Long jumped = jumpNanos;
        boolean ahead = shown.isAfter(expected.plus(JUMP));
        if (ahead && jumped == null) {
            LOG.log(
                    Level.WARNING,
                    "the clock has jumped ahead from {0} to {1}: nothing is removed by the new time for an hour",
                    expected,
                    shown);
            jumped = nanos;
        }
        boolean trusted = !ahead || jumped == null || nanos - jumped >= TRUSTED_AFTER.toNanos();
        jumpNanos = trusted ? null : jumped;
        last = trusted ? shown : expected;
        lastNanos = nanos;
        return last;
    }
}
