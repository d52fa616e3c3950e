package dev.parley.registry.reports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.registry.ReportProtocol.Step;
import dev.parley.registry.ReportProtocol.Total;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SeriesTest {
    private Instant now = Instant.parse("2027-01-01T12:00:05Z");
    private final Series series = new Series(() -> now);

    private void calls(String agent, String operation, int number, long millis, boolean areErrors) {
        for (int i = 0; i < number; i++) {
            series.count(agent, operation, TimeUnit.MILLISECONDS.toNanos(millis), areErrors);
        }
    }

    private List<Step> rows(@Nullable String agent, @Nullable String operation) {
        return series.since(Instant.EPOCH, agent, operation).rows();
    }

    private List<Total> totals() {
        return series.since(Instant.EPOCH, null, null).totals();
    }

    @Test
    @DisplayName("ONE33 calls, errors and durations are counted by step, agent and operation")
    void callsAreCounted() {
        calls("echo", "SendMessage", 90, 10, false);
        calls("echo", "SendMessage", 10, 1_000, true);
        calls("echo", "GetTask", 5, 1, false);
        now = now.plusSeconds(15);
        calls("scribe", "SendMessage", 3, 20, false);

        List<Step> all = rows(null, null);
        assertThat(all).hasSize(2);
        assertThat(all.getFirst().at()).isEqualTo("2027-01-01T12:00:00Z");
        assertThat(all.getFirst().measured().calls()).isEqualTo(105);
        assertThat(all.getFirst().measured().errors()).isEqualTo(10);
        assertThat(all.getLast().measured().calls()).isEqualTo(3);
        Total echo = totals().getFirst();
        assertThat(echo).asString().contains("agent=echo", "operation=SendMessage", "calls=100");
        assertThat(echo.measured().p50Millis()).isBetween(9.0, 11.0);
        assertThat(echo.measured().p95Millis()).isBetween(900.0, 1_100.0);
        assertThat(rows("scribe", null)).hasSize(1);
        assertThat(rows("echo", "GetTask").toString()).contains("calls=5", "errors=0");
        assertThat(rows("unknown", null)).isEmpty();
    }

    @Test
    @DisplayName("ONE33 a step is kept for an hour, and its place is used again")
    void stepsEnd() {
        calls("echo", "SendMessage", 7, 10, false);
        now = now.plusSeconds(3_585);
        assertThat(rows(null, null)).hasSize(1);
        now = now.plusSeconds(15);
        assertThat(rows(null, null)).isEmpty();
        assertThat(totals()).isEmpty();
        calls("echo", "SendMessage", 2, 10, false);
        assertThat(rows(null, null).toString()).contains("calls=2");
    }

    @Test
    @DisplayName("ONE33 extreme durations, and more subjects than are kept, cost no memory and are counted")
    void limitsHold() {
        series.count("echo", "SendMessage", -5, false);
        series.count("echo", "SendMessage", Long.MAX_VALUE, false);
        for (int i = 0; i < 1_000; i++) {
            series.count("agent-" + i, "SendMessage", 1_000_000, false);
        }

        assertThat(totals()).hasSize(201);
        assertThat(totals().getFirst().toString()).contains("agent=" + Series.OTHER, "calls=801");
        assertThat(rows(null, null).getFirst().measured().calls()).isEqualTo(1_002);
        now = now.plusSeconds(3_600);
        series.count("late", "SendMessage", 1_000_000, false);
        assertThat(totals().toString()).contains("agent=late"); // in the place of one without calls
    }
}
