package dev.parley.protocol.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work of one group takes neither threads nor turns from that of another, and ends when its time is over. */
@Timeout(60)
final class FairPoolTest {
    private static final Duration LONG = Duration.ofSeconds(50);

    /** Four threads, of which one runs at a time. */
    private final FairPool pool = new FairPool("test", 4, 2, 3, 1);

    private final AtomicBoolean over = new AtomicBoolean();

    private final List<FutureTask<String>> computing = new ArrayList<>();

    @AfterEach
    void close() {
        over.set(true);
        pool.close();
    }

    private static <T> FutureTask<T> begin(Callable<T> call) {
        var task = new FutureTask<>(call);
        Thread.ofVirtual().start(task);
        return task;
    }

    /** Work that computes until it is given up, or the test ends. */
    private FutureTask<String> hostile(String group, Duration patience, CountDownLatch begun) {
        return begin(() -> pool.call(group, patience, () -> {
            begun.countDown();
            while (FairPool.checkpoint() && !over.get()) {
                Thread.onSpinWait();
            }
            return "ended";
        }));
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(50, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Test
    void aGroupThatComputesWithoutEndDoesNotStopAnother() throws Exception {
        var begun = new CountDownLatch(2);
        computing.add(hostile("hostile", LONG, begun));
        computing.add(hostile("hostile", LONG, begun));
        computing.add(hostile("hostile", LONG, begun));
        assertThat(await(begun)).isTrue();

        for (int i = 0; i < 20; i++) {
            assertThat(pool.call("ordinary", LONG, () -> "answer")).isEqualTo("answer");
        }
    }

    @Test
    void workWithoutCheckpointsDoesNotStopAnotherGroup() throws Exception {
        var begun = new CountDownLatch(2);
        for (int i = 0; i < 3; i++) {
            computing.add(begin(() -> pool.call("hostile", LONG, () -> {
                begun.countDown();
                while (!over.get()) {
                    Thread.onSpinWait();
                }
                return "ended";
            })));
        }
        assertThat(await(begun)).isTrue();

        assertThat(pool.call("ordinary", LONG, () -> "answer")).isEqualTo("answer");
    }

    @Test
    void aGroupHasAtMostHalfOfTheThreads() throws Exception {
        var release = new CountDownLatch(1);
        var atOnce = new AtomicInteger();
        var most = new AtomicInteger();
        var calls = new ArrayList<FutureTask<Boolean>>();
        for (int i = 0; i < 5; i++) {
            calls.add(begin(() -> pool.call("group", LONG, () -> {
                most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                boolean released = await(release);
                atOnce.decrementAndGet();
                return released;
            })));
        }

        assertThat(pool.call("other", LONG, () -> "answer")).isEqualTo("answer");
        release.countDown();
        for (FutureTask<Boolean> call : calls) {
            assertThat(call.get()).isTrue();
        }
        assertThat(most.get()).isLessThanOrEqualTo(2);
    }

    @Test
    void twoGroupsWithMuchWorkLeaveAThreadToAThird() throws Exception {
        var release = new CountDownLatch(1);
        var begun = new CountDownLatch(3);
        var calls = new ArrayList<FutureTask<Boolean>>();
        for (String group : List.of("one", "two")) {
            for (int i = 0; i < 3; i++) {
                calls.add(begin(() -> pool.call(group, LONG, () -> {
                    begun.countDown();
                    return await(release);
                })));
            }
        }
        assertThat(await(begun)).isTrue();

        assertThat(pool.call("third", LONG, () -> "answer")).isEqualTo("answer");

        assertThat(calls).noneMatch(FutureTask::isDone);
        release.countDown();
        for (FutureTask<Boolean> call : calls) {
            assertThat(call.get()).isTrue();
        }
    }

    @Test
    void workThatTakesTooLongIsEndedAndItsThreadIsFree() throws Exception {
        var ended = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> pool.call("group", Duration.ofMillis(50), () -> {
                        while (FairPool.checkpoint()) {
                            Thread.onSpinWait();
                        }
                        ended.countDown();
                        return "ended";
                    }))
                    .isInstanceOf(TimeoutException.class);
        }

        assertThat(await(ended)).isTrue();
        assertThat(pool.call("group", LONG, () -> "answer")).isEqualTo("answer");
    }

    @Test
    void workOfACallerThatIsInterruptedEnds() throws Exception {
        var begun = new CountDownLatch(1);
        var ended = new CountDownLatch(1);
        Thread caller = Thread.ofVirtual().start(() -> {
            try {
                pool.call("group", LONG, () -> {
                    begun.countDown();
                    while (FairPool.checkpoint()) {
                        Thread.onSpinWait();
                    }
                    ended.countDown();
                    return "ended";
                });
            } catch (InterruptedException | TimeoutException expected) {
                // the caller has gone
            }
        });
        assertThat(await(begun)).isTrue();

        caller.interrupt();

        assertThat(await(ended)).isTrue();
    }

    @Test
    void workThatIsNotBegunInTimeIsRefused() throws Exception {
        var begun = new CountDownLatch(2);
        computing.add(hostile("group", LONG, begun));
        computing.add(hostile("group", LONG, begun));
        assertThat(await(begun)).isTrue();
        var run = new AtomicBoolean();

        assertThatThrownBy(() -> pool.call("group", Duration.ofMillis(20), () -> {
                    run.set(true);
                    return "ran";
                }))
                .isInstanceOf(RejectedExecutionException.class);

        over.set(true);
        assertThat(pool.call("group", LONG, () -> "answer")).isEqualTo("answer");
        assertThat(run).isFalse();
    }

    @Test
    void aGroupWithTooMuchWaitingIsRefusedAndAnotherIsNot() throws Exception {
        var begun = new CountDownLatch(2);
        var all = new ArrayList<FutureTask<String>>();
        for (int i = 0; i < 6; i++) {
            all.add(hostile("hostile", LONG, begun));
        }

        assertThat(await(begun)).isTrue();
        assertThat(pool.call("ordinary", LONG, () -> "answer")).isEqualTo("answer");
        over.set(true);
        int refused = 0;
        for (FutureTask<String> call : all) {
            try {
                assertThat(call.get()).isEqualTo("ended");
            } catch (ExecutionException failure) {
                assertThat(failure).hasCauseInstanceOf(RejectedExecutionException.class);
                refused++;
            }
        }
        // Two run and three wait; how many came before the first two had begun is a matter of chance.
        assertThat(refused).isBetween(1, 3);
    }

    @Test
    void groupsHaveTheProcessorInTurn() throws Exception {
        var begun = new CountDownLatch(2);
        computing.add(hostile("first", LONG, begun));
        FutureTask<List<Long>> second = begin(() -> pool.call("second", LONG, () -> {
            begun.countDown();
            var gaps = new ArrayList<Long>();
            long last = System.nanoTime();
            while (gaps.size() < 3 && FairPool.checkpoint()) {
                long now = System.nanoTime();
                if (now - last > TimeUnit.MILLISECONDS.toNanos(8)) {
                    gaps.add(now - last); // the other one has had a turn
                }
                last = now;
            }
            return gaps;
        }));

        assertThat(await(begun)).isTrue();
        assertThat(second.get()).hasSize(3);
    }

    @Test
    void whatWorkThrowsReachesTheCaller() {
        assertThatThrownBy(() -> pool.call("group", LONG, () -> {
                    throw new IllegalArgumentException("wrong");
                }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("wrong");
    }

    @Test
    void workMayCallThePoolItRunsIn() throws Exception {
        assertThat(pool.call("group", LONG, () -> {
                    try {
                        return pool.call(
                                "group", LONG, () -> Thread.currentThread().getName());
                    } catch (InterruptedException | TimeoutException unexpected) {
                        throw new AssertionError(unexpected);
                    }
                }))
                .isEqualTo("test-worker");
    }

    @Test
    void aPoolThatIsClosedRefusesWorkAndEndsWhatRuns() throws Exception {
        var begun = new CountDownLatch(1);
        FutureTask<String> running = hostile("group", LONG, begun);
        assertThat(await(begun)).isTrue();

        pool.close();

        assertThat(running.get()).isEqualTo("ended");
        assertThatThrownBy(() -> pool.call("group", LONG, () -> "answer"))
                .isInstanceOf(RejectedExecutionException.class);
    }
}
