package dev.parley.engine.spi;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Clock for the expiry of rows, so that a clock that is wrong for a while removes nothing. A jump ahead
 * by more than an hour counts only when it has lasted for an hour; a clock that is more than {@link #FAR} ahead of the newest
 * event at the start, only after a day. A clock that is behind is followed: it removes later than it should, and nothing else.
 * Safe for any thread.
 */
public final class SteadyClock implements InstantSource {
    private static final Logger LOG = System.getLogger("dev.parley.engine");
    private static final Duration JUMP = Duration.ofHours(1);
    private static final Duration TRUSTED_AFTER = Duration.ofHours(1);

    /** A hub that was off for so long is rarer than a machine that starts with a wrong clock. */
    private static final Duration FAR = Duration.ofDays(30);

    private static final Duration TRUSTED_AFTER_START = Duration.ofDays(1);

    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private Instant last;
    private long lastNanos;
    private @Nullable Long jumpNanos;
    private Duration trustedAfter = TRUSTED_AFTER;

    /**
     * @param nanoTime elapsed time, as of {@link System#nanoTime}
     * @param newest time of the newest event that was written before the start; null if there is none
     */
    public SteadyClock(InstantSource clock, LongSupplier nanoTime, @Nullable Instant newest) {
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.last = clock.instant();
        this.lastNanos = nanoTime.getAsLong();
        if (newest != null && isFarAhead(last, newest)) {
            last = newest;
            jumpNanos = lastNanos;
            trustedAfter = TRUSTED_AFTER_START;
        }
    }

    /** Returns why the time of a start looks wrong beside the newest event that was written before it; empty if it does not. */
    public static Optional<String> doubt(Instant start, @Nullable Instant newest) {
        if (newest == null) {
            return Optional.empty();
        }
        Instant shown = start.truncatedTo(ChronoUnit.SECONDS);
        Instant event = newest.truncatedTo(ChronoUnit.SECONDS);
        if (start.isBefore(newest.minus(JUMP))) {
            return Optional.of("the clock shows " + shown + ", which is before the newest event (" + event
                    + "): check the clock; new events are older than those on disk");
        }
        if (isFarAhead(start, newest)) {
            return Optional.of("the clock shows " + shown + ", "
                    + Duration.between(newest, start).toDays()
                    + " days after the newest event (" + event
                    + "): check the clock, unless the hub was off for so long; nothing is removed by this time before the"
                    + " hub has run for a day");
        }
        return Optional.empty();
    }

    private static boolean isFarAhead(Instant shown, Instant newest) {
        return shown.isAfter(newest.plus(FAR));
    }

    @Override
    public synchronized Instant instant() {
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
            trustedAfter = TRUSTED_AFTER;
        }
        boolean trusted = !ahead || jumped == null || nanos - jumped >= trustedAfter.toNanos();
        jumpNanos = trusted ? null : jumped;
        last = trusted ? shown : expected;
        lastNanos = nanos;
        return last;
    }
}
