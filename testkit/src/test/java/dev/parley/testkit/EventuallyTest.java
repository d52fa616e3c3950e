package dev.parley.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class EventuallyTest {
    private final AtomicInteger checks = new AtomicInteger();

    @Test
    void aConditionIsCheckedUntilItHolds() {
        Eventually.holds("the third check", () -> checks.incrementAndGet() == 3);

        assertThat(checks).hasValue(3);
    }

    @Test
    void theFirstValueThatFitsIsReturned() {
        int value = Eventually.value("a value of 3 or more", checks::incrementAndGet, number -> number >= 3);

        assertThat(value).isEqualTo(3);
    }

    @Test
    void aConditionThatDoesNotHoldFailsAfterTheDeadlineAndIsNamed() {
        assertThatThrownBy(() -> Eventually.within(
                        Duration.ofMillis(50), "a second writer", () -> checks.incrementAndGet() == 0))
                .isInstanceOf(AssertionError.class)
                .hasMessage("a second writer: not within 50 ms, last: false");
        assertThat(checks).hasValueGreaterThan(1);
    }

    @Test
    void anAssertionIsRepeatedUntilItHolds() {
        Eventually.asserted(
                "the third check", () -> assertThat(checks.incrementAndGet()).isEqualTo(3));

        assertThat(checks).hasValue(3);
    }

    @Test
    void anInterruptionEndsTheWaitAndShowsTheLastAssertionError() throws Exception {
        var begun = new CountDownLatch(1);
        var failure = new CompletableFuture<AssertionError>();
        var thread = Thread.ofVirtual().start(() -> {
            try {
                Eventually.asserted("both rows", () -> {
                    begun.countDown();
                    assertThat(1).as("rows").isEqualTo(2);
                });
            } catch (AssertionError expected) {
                assertThat(Thread.currentThread().isInterrupted()).isTrue();
                failure.complete(expected);
            }
        });
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();

        thread.interrupt();

        assertThat(failure.get(30, TimeUnit.SECONDS))
                .hasMessageStartingWith("both rows: interrupted, last: ")
                .hasMessageContaining("[rows]")
                .cause()
                .isInstanceOf(AssertionError.class);
    }

    @Test
    void whatACheckThrowsReachesTheCallerAtOnce() {
        assertThatThrownBy(() -> Eventually.asserted("an answer", () -> {
                    checks.incrementAndGet();
                    throw new IOException("cut");
                }))
                .isInstanceOf(IOException.class);
        assertThat(checks).hasValue(1);
    }
}
