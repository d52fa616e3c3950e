package dev.parley.server.limits;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class FairSchedulerTest {
    private static final Duration LONG = Duration.ofHours(1);

    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final FairScheduler shares = new FairScheduler(clock, 1, 2, LONG);
    private final BlockingQueue<Call> in = new LinkedBlockingQueue<>();
    private final List<Thread> threads = new ArrayList<>();

    private record Call(String name, Runnable end) {}

    @AfterEach
    void end() throws InterruptedException {
        clock.shutdownNow();
        for (var thread : threads) {
            thread.interrupt();
            thread.join();
        }
    }

    @Test
    void callsOfOneGroupAloneDoNotWait() throws InterruptedException {
        assertThat(enteredInTime(shares, "one", 100))
                .as("calls that entered within 30 s")
                .isEqualTo(100);
    }

    /** Returns how many calls enter one after the other within 30 s; a call that waits for its round takes hours. */
    private int enteredInTime(FairScheduler of, String group, int calls) throws InterruptedException {
        var entered = new AtomicInteger();
        var thread = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < calls; i++) {
                of.enter(group);
                entered.incrementAndGet();
            }
        });
        threads.add(thread);
        thread.join(Duration.ofSeconds(30));
        return entered.get();
    }

    @Test
    void ofSeveralGroupsEachHasOnlySoManyCallsUnderWay() throws InterruptedException {
        enterBoth();

        var first = shares.enter("noisy");
        var second = shares.enter("noisy");
        call("noisy", "third");
        call("noisy", "fourth");
        call("noisy", "fifth");

        shares.enter("quiet").run();
        first.run();
        assertThat(in).as("they come in together").isEmpty();
        second.run();
        var third = next();
        var fourth = next();
        assertThat(List.of(third.name(), fourth.name())).containsExactlyInAnyOrder("third", "fourth");
        third.end().run();
        third.end().run();
        assertThat(in).as("that one ends twice does not make it two").isEmpty();
        fourth.end().run();
        assertThat(next().name()).isEqualTo("fifth");
    }

    @Test
    void whatTakesLongCountsNoMore() throws InterruptedException {
        // A call that works, unlike these, holds up the next one 1000 times as long.
        var impatient = new FairScheduler(clock, 1, 1, Duration.ofMillis(20));
        impatient.enter("quiet");
        impatient.enter("noisy");

        assertThat(enteredInTime(impatient, "noisy", 5))
                .as("calls that entered within 30 s")
                .isEqualTo(5);
    }

    @Test
    void callsThatEndAtOnceLeaveTheProcessorsToOthersAfterEachRound() throws Exception {
        var held = new CountDownLatch(1);
        var stopped = clock.submit(() -> held.await(60, TimeUnit.SECONDS));
        enterBoth();

        for (int i = 0; i < 2; i++) {
            var end = shares.enter("noisy");
            // Time in which this thread has no processor counts as idle; it is less than this.
            work(Duration.ofMillis(200));
            end.run();
        }
        call("noisy", "of the next round");

        shares.enter("quiet").run();
        assertThat(in).isEmpty();
        held.countDown();
        assertThat(stopped.get()).isTrue();
        assertThat(next().name()).isEqualTo("of the next round");
    }

    @Test
    void aGroupThatWorksLittleDoesNotWaitForTheClock() throws Exception {
        var held = new CountDownLatch(1);
        var stopped = clock.submit(() -> held.await(60, TimeUnit.SECONDS));
        var strict = new FairScheduler(clock, 1, 2, Duration.ofNanos(1000));
        strict.enter("one").run();
        strict.enter("another").run();

        for (int i = 0; i < 20; i++) {
            strict.enter("quiet").run();
            work(Duration.ofMillis(1));
        }

        held.countDown();
        assertThat(stopped.get()).isTrue();
    }

    @Test
    void aShareMayBeGivenBeforeTheCallIsKnown() throws Exception {
        assertThat(shares.enterEarly("noisy")).as("while one group calls").isNull();
        enterBoth();

        var first = requireNonNull(shares.enterEarly("noisy"));
        shares.called("noisy");
        var second = requireNonNull(shares.enterEarly("noisy"));
        call("noisy", "third");

        assertThat(in).isEmpty();
        first.end().run();
        second.end().run();
        assertThat(next().name()).isEqualTo("third");
    }

    private static void work(Duration duration) {
        var until = System.nanoTime() + duration.toNanos();
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    @Test
    void whoIsInterruptedGoesOn() throws InterruptedException {
        enterBoth();
        shares.enter("noisy");
        var second = shares.enter("noisy");
        var waits = call("noisy", "third");

        waits.interrupt();
        next().end().run();

        call("noisy", "fourth");
        second.run();
        assertThat(in).isEmpty();
    }

    @Test
    void nobodyWaitsWhenTheClockHasStopped() throws InterruptedException {
        enterBoth();
        var first = shares.enter("noisy");
        var second = shares.enter("noisy");
        call("noisy", "third");

        clock.shutdown();
        first.run();
        second.run();
        assertThat(next().name()).isEqualTo("third");
    }

    /** After that groups are known to call at the same time, and none of those of the tests has called. */
    @Test
    void groupsOfOneShareTakeTurns() throws InterruptedException {
        var turns = FairScheduler.always(clock, 1, LONG);
        var first = turns.enter("noisy");
        call(turns, "noisy", "second");
        call(turns, "noisy", "third");
        call(turns, "quiet", "other");

        first.run();

        for (String name : List.of("second", "other", "third")) {
            var call = next();
            assertThat(call.name()).isEqualTo(name);
            assertThat(in).isEmpty();
            call.end().run();
        }
    }

    private void enterBoth() {
        shares.enter("one").run();
        shares.enter("another").run();
    }

    private Thread call(String group, String name) throws InterruptedException {
        return call(shares, group, name);
    }

    private Thread call(FairScheduler shares, String group, String name) throws InterruptedException {
        var thread = Thread.ofPlatform().start(() -> in.add(new Call(name, shares.enter(group))));
        threads.add(thread);
        Eventually.value("call \"" + name + "\" waits", thread::getState, Thread.State.WAITING::equals);
        return thread;
    }

    private Call next() throws InterruptedException {
        return requireNonNull(in.poll(30, TimeUnit.SECONDS));
    }
}
