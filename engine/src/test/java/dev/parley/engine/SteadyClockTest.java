package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class SteadyClockTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private Instant shown = START;
    private long nanos;
    private final SteadyClock clock = new SteadyClock(() -> shown, () -> nanos);

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
}
