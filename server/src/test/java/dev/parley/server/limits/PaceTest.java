package dev.parley.server.limits;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class PaceTest {
    @Test
    void stepsFollowEachOtherAtTheInterval() {
        var pace = new Pace(Duration.ofMillis(5));
        long begun = System.nanoTime();

        for (int i = 0; i < 4; i++) {
            pace.awaitTurn();
        }

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofMillis(20));
    }

    @Test
    void anInterruptedThreadWaitsForNoTurn() {
        var pace = new Pace(Duration.ofDays(1));
        Thread.currentThread().interrupt();

        pace.awaitTurn();

        assertThat(Thread.interrupted()).isTrue();
    }
}
