package dev.parley.outbound.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryAfterTest {
    private static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");
    private static final Duration CAP = Duration.ofHours(1);

    @ParameterizedTest
    @CsvSource({
        "0, PT0S",
        "7, PT7S",
        "' 7 ', PT7S",
        "3600, PT1H",
        "3601, PT1H",
        "999999999999999999, PT1H",
        "'Fri, 20 Nov 2026 10:00:30 GMT', PT30S",
        "'Fri, 20 Nov 2026 12:00:00 GMT', PT1H",
        "'Fri, 20 Nov 2026 09:00:00 GMT', PT0S",
    })
    void secondsAndDatesAreReadUpToTheCap(String header, Duration wait) {
        assertThat(RetryAfter.parse(header, NOW, CAP)).isEqualTo(wait);
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "soon", "-1", "1.5", "9999999999999999999999", "Fri, 99 Nov 2026 10:00:30 GMT"})
    void whatSaysNothingIsNoWait(String header) {
        assertThat(RetryAfter.parse(header, NOW, CAP)).isNull();
    }
}
