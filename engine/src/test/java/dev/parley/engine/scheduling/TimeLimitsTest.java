package dev.parley.engine.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TimeLimitsTest {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
    private final TimeLimits limits = new TimeLimits(Threads.PLATFORM, timer);
    private final LinkedBlockingQueue<String> reached = new LinkedBlockingQueue<>();

    @AfterEach
    void stop() {
        timer.shutdownNow();
    }

    @Test
    void limitsAreReachedInTheOrderOfTheirTimesWhicheverWasSetFirst() throws Exception {
        CountDownLatch allSet = stopTimer();
        limits.in(Duration.ofSeconds(-1), () -> reached.add("third"));
        limits.in(Duration.ofSeconds(-2), () -> reached.add("second"));
        limits.in(Duration.ofSeconds(-3), () -> reached.add("first"));
        allSet.countDown();

        assertThat(next()).isEqualTo("first");
        assertThat(next()).isEqualTo("second");
        assertThat(next()).isEqualTo("third");
    }

    @Test
    void aLimitDoesNotWaitForOneThatWasSetBeforeItAndIsLater() throws Exception {
        limits.in(Duration.ofHours(1), () -> reached.add("later"));

        limits.in(Duration.ofMillis(10), () -> reached.add("soon"));

        assertThat(next()).isEqualTo("soon");
    }

    @Test
    void aLimitIsNotReachedBeforeItsTime() throws Exception {
        long begin = System.nanoTime();

        TimeLimits.Limit limit = limits.in(Duration.ofMillis(30), () -> reached.add("reached"));

        assertThat(next()).isEqualTo("reached");
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(30_000_000);
        assertThat(limit.isReached()).isTrue();
    }

    @Test
    void aLimitThatWasDroppedDoesNothingAndHoldsUpNoOther() throws Exception {
        CountDownLatch allSet = stopTimer();
        TimeLimits.Limit dropped = limits.in(Duration.ofMillis(10), () -> reached.add("dropped"));
        dropped.drop();
        limits.in(Duration.ofMillis(20), () -> reached.add("kept"));
        allSet.countDown();

        assertThat(next()).isEqualTo("kept");
    }

    @Test
    void aThousandLimitsThatComeAndGoTakeOneEntryOfTheTimer() {
        List<TimeLimits.Limit> set = IntStream.range(0, 1_000)
                .mapToObj(each -> limits.in(Duration.ofHours(1), () -> reached.add("late")))
                .toList();

        assertThat(timer.getQueue()).hasSize(1);

        set.forEach(TimeLimits.Limit::drop);
        limits.in(Duration.ofHours(1), () -> reached.add("late"));

        // Entries that were canceled stay in the queue, so this counts all there ever were; getTaskCount() is a guess
        // while the thread is being started.
        assertThat(timer.getQueue()).hasSize(1);
    }

    @Test
    void aLimitMayBeLongerThanTimeCanTell() {
        assertThat(limits.in(Duration.ofSeconds(Long.MAX_VALUE), () -> reached.add("never"))
                        .isReached())
                .isFalse();
    }

    /** Has nothing be reached until the latch is open, so that the time which a test takes does not count. */
    private CountDownLatch stopTimer() {
        var mayGo = new CountDownLatch(1);
        var unused = timer.submit(() -> {
            mayGo.await();
            return null;
        });
        return mayGo;
    }

    private String next() throws InterruptedException {
        return String.valueOf(reached.poll(10, TimeUnit.SECONDS));
    }
}
