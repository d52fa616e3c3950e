package dev.parley.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class SharesTest {
    private static final Duration LONG = Duration.ofHours(1);

    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private final Shares shares = new Shares(clock, 2, LONG);
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
    void callsOfOneGroupAloneDoNotWait() {
        for (int i = 0; i < 100; i++) {
            shares.enter("one");
        }
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
        var impatient = new Shares(clock, 1, Duration.ofMillis(1));
        impatient.enter("quiet");
        impatient.enter("noisy");

        for (int i = 0; i < 5; i++) {
            impatient.enter("noisy");
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

    /** After that the groups are known to call at the same time, and none has a call under way. */
    private void enterBoth() {
        shares.enter("quiet").run();
        shares.enter("noisy").run();
    }

    private Thread call(String group, String name) throws InterruptedException {
        var thread = Thread.ofPlatform().start(() -> in.add(new Call(name, shares.enter(group))));
        threads.add(thread);
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return thread;
    }

    private Call next() throws InterruptedException {
        return requireNonNull(in.poll(30, TimeUnit.SECONDS));
    }
}
