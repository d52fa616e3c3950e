package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LimitsTest {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    private final Limits limits = new Limits(timer);
    private final LinkedBlockingQueue<String> reached = new LinkedBlockingQueue<>();

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    @Test
    void limitsAreReachedInTheOrderOfTheirTimesWhicheverWasSetFirst() throws Exception {
        limits.in(Duration.ofMillis(40), () -> reached.add("third"));
        limits.in(Duration.ofMillis(20), () -> reached.add("second"));
        limits.in(Duration.ZERO, () -> reached.add("first"));

        assertThat(next()).isEqualTo("first");
        assertThat(next()).isEqualTo("second");
        assertThat(next()).isEqualTo("third");
    }

    @Test
    void aLimitIsNotReachedBeforeItsTime() throws Exception {
        long begin = System.nanoTime();

        Limits.Limit limit = limits.in(Duration.ofMillis(30), () -> reached.add("reached"));

        assertThat(next()).isEqualTo("reached");
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(30_000_000);
        assertThat(limit.isReached()).isTrue();
    }

    @Test
    void aLimitThatWasDroppedDoesNothingAndHoldsUpNoOther() throws Exception {
        Limits.Limit dropped = limits.in(Duration.ofMillis(10), () -> reached.add("dropped"));
        dropped.drop();
        limits.in(Duration.ofMillis(20), () -> reached.add("kept"));

        assertThat(next()).isEqualTo("kept");
    }

    @Test
    void aThousandLimitsThatComeAndGoTakeOneEntryOfTheTimer() {
        List<Limits.Limit> set = IntStream.range(0, 1_000)
                .mapToObj(each -> limits.in(Duration.ofHours(1), () -> reached.add("late")))
                .toList();

        assertThat(timer.getQueue()).hasSize(1);

        set.forEach(Limits.Limit::drop);
        limits.in(Duration.ofHours(1), () -> reached.add("late"));

        assertThat(timer.getTaskCount()).isEqualTo(1);
    }

    @Test
    void aLimitMayBeLongerThanTimeCanTell() {
        assertThat(limits.in(Duration.ofSeconds(Long.MAX_VALUE), () -> reached.add("never"))
                        .isReached())
                .isFalse();
    }

    private String next() throws InterruptedException {
        return String.valueOf(reached.poll(10, TimeUnit.SECONDS));
    }
}
