package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.SteadyClock;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class SteadyClockTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private Instant shown = START;
    private long nanos;
    private final SteadyClock clock = new SteadyClock(() -> shown, () -> nanos, null);

    private void pass(Duration time) {
        shown = shown.plus(time);
        nanos += time.toNanos();
    }

    @Test
    void aClockThatJumpsAheadForAMomentMakesNothingOld() {
        pass(Duration.ofMinutes(1));
        shown = shown.plus(Duration.ofDays(400));
        assertThat(clock.instant()).isEqualTo(START.plusSeconds(60));

        pass(Duration.ofMinutes(1));
        shown = shown.minus(Duration.ofDays(400));

        assertThat(clock.instant()).isEqualTo(START.plusSeconds(120));
    }

    @Test
    void aJumpThatLastsIsTaken() {
        shown = shown.plus(Duration.ofDays(1));
        assertThat(clock.instant()).isEqualTo(START);

        pass(Duration.ofMinutes(59));
        assertThat(clock.instant()).isEqualTo(START.plus(Duration.ofMinutes(59)));
        pass(Duration.ofMinutes(1));
        assertThat(clock.instant()).isEqualTo(shown);
    }

    @Test
    void aClockThatIsPutBackIsFollowed() {
        pass(Duration.ofMinutes(1));
        shown = shown.minus(Duration.ofDays(1));

        assertThat(clock.instant()).isEqualTo(shown);
    }

    @Test
    void aClockThatIsYearsAheadAtTheStartMakesNothingOldForADay() {
        shown = START.plus(Duration.ofDays(400));
        var started = new SteadyClock(() -> shown, () -> nanos, START);
        assertThat(started.instant()).isEqualTo(START);

        pass(Duration.ofHours(23));
        assertThat(started.instant()).isEqualTo(START.plus(Duration.ofHours(23)));
        shown = START.plus(Duration.ofHours(23)); // put right
        assertThat(started.instant()).isEqualTo(shown);
    }

    @Test
    void aHubThatWasOffForMonthsRemovesByItsClockAfterADay() {
        shown = START.plus(Duration.ofDays(90));
        var started = new SteadyClock(() -> shown, () -> nanos, START);

        pass(Duration.ofDays(1));

        assertThat(started.instant()).isEqualTo(shown);
    }

    @Test
    void aHubThatWasOffForAWeekRemovesByItsClockAtOnce() {
        shown = START.plus(Duration.ofDays(7));

        assertThat(new SteadyClock(() -> shown, () -> nanos, START).instant()).isEqualTo(shown);
        assertThat(SteadyClock.doubt(shown, START)).isEmpty();
        assertThat(SteadyClock.doubt(shown, null)).isEmpty();
    }

    @Test
    void aStartFarFromTheNewestEventIsDoubted() {
        assertThat(SteadyClock.doubt(START.plus(Duration.ofDays(400)), START))
                .hasValueSatisfying(doubt -> assertThat(doubt)
                        .contains("2027-02-05T00:00:00Z", "400 days after the newest event (2026-01-01T00:00:00Z)"));
        assertThat(SteadyClock.doubt(START.minus(Duration.ofHours(2)), START))
                .hasValueSatisfying(doubt -> assertThat(doubt)
                        .contains("2025-12-31T22:00:00Z", "before the newest event (2026-01-01T00:00:00Z)"));
        assertThat(SteadyClock.doubt(START.minus(Duration.ofMinutes(59)), START))
                .isEmpty();
    }
}
