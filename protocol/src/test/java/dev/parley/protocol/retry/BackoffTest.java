package dev.parley.protocol.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.retry.Backoff.Growth;
import java.time.Duration;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {
    private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(2));

    @ParameterizedTest
    @CsvSource({"1, PT0.1S", "2, PT0.2S", "3, PT0.4S", "5, PT1.6S", "6, PT2S", "7, PT2S", "1000, PT2S"})
    void theWaitIsRandomBetweenHalfOfABoundThatDoublesAndTheBound(int failures, Duration bound) {
        Duration middle = bound.multipliedBy(3).dividedBy(4);

        assertThat(waits(failures)).allSatisfy(wait -> assertThat(wait).isBetween(bound.dividedBy(2), bound));
        assertThat(waits(failures)).anySatisfy(wait -> assertThat(wait).isGreaterThan(middle));
        assertThat(waits(failures)).anySatisfy(wait -> assertThat(wait).isLessThan(middle));
    }

    @ParameterizedTest
    @CsvSource({"1, PT0S", "4, PT0.001S", "4, PT0.4S", "9, PT1S"})
    void nobodyCanAskForLessThanTheFloor(int failures, Duration wanted) {
        assertThat(backoff.after(failures, wanted))
                .isBetween(backoff.bound(failures).dividedBy(2), backoff.bound(failures));
    }

    @Test
    void whatTheOtherSideAskedForIsKept() {
        assertThat(backoff.after(9, Duration.ofSeconds(30)))
                .isBetween(Duration.ofSeconds(30), Duration.ofMillis(30_100));
    }

    @ParameterizedTest
    @CsvSource({"1, PT0.1S", "2, PT0.2S", "3, PT0.3S", "20, PT2S", "21, PT2S", "1000, PT2S"})
    void aLinearWaitGrowsByTheFirstOneWithEachFailure(int failures, Duration middle) {
        assertThat(around(Growth.LINEAR).after(failures, null, 0.5)).isEqualTo(middle);
    }

    @ParameterizedTest
    @CsvSource({"LINEAR, 0, PT0.24S", "LINEAR, 0.5, PT0.3S", "LINEAR, 1, PT0.36S", "EXPONENTIAL, 0, PT0.32S"})
    void aWaitAroundItsBoundDiffersByAFifthAtMost(Growth growth, double share, Duration wait) {
        assertThat(around(growth).after(3, null, share)).isEqualTo(wait);
    }

    private static Backoff around(Growth growth) {
        return Backoff.around(Duration.ofMillis(100), Duration.ofSeconds(2), growth);
    }

    @Test
    void itCanBeNothing() {
        assertThat(new Backoff(Duration.ZERO, Duration.ZERO).after(3, null)).isZero();
    }

    @Test
    void aBoundThatShrinksIsRefused() {
        assertThatThrownBy(() -> new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Backoff(Duration.ofSeconds(-1), Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private Stream<Duration> waits(int failures) {
        return IntStream.range(0, 200).mapToObj(i -> backoff.after(failures, null));
    }
}
