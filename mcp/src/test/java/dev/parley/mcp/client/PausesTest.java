package dev.parley.mcp.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** The pauses of all recoveries of MCP clients: connections, streams of notifications, subscriptions, and answers that are resumed. */
class PausesTest {
    private final Pauses pauses = new Pauses();

    @RepeatedTest(20)
    @DisplayName("pauses have a floor, grow with each failure, have a cap, and begin anew only after progress")
    void floorGrowthCapAndReset() {
        assertThat(pauses.next(null)).isBetween(Duration.ofMillis(250), Duration.ofMillis(500));
        for (long floor = 500; floor < 150_000; floor *= 2) {
            assertThat(pauses.next(null)).isBetween(Duration.ofMillis(floor), Duration.ofMillis(2 * floor));
        }
        for (int more = 0; more < 100; more++) {
            assertThat(pauses.next(null)).isBetween(Duration.ofSeconds(150), Duration.ofMinutes(5));
        }

        pauses.progress();

        assertThat(pauses.next(null)).isBetween(Duration.ofMillis(250), Duration.ofMillis(500));
    }

    @Test
    void aServerMayWantLongerPausesButNoShorterOnes() {
        assertThat(pauses.next(Duration.ZERO)).isGreaterThanOrEqualTo(Duration.ofMillis(250));
        assertThat(pauses.next(Duration.ofMinutes(1))).isBetween(Duration.ofMinutes(1), Duration.ofSeconds(61));
    }
}
