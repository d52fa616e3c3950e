package dev.parley.hub.extensions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.extension.HubTimers.Handler;
import dev.parley.extension.HubTimers.Timers;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.Eventually;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Timers of two hubs that work with one PostgreSQL database. */
@Timeout(60)
@Tag("heavy")
final class SharedTimersTest {
    private static final long DEADLINE_SECONDS = 30;

    /** Longest time between the time of a timer and the call of its handler. */
    private static final Duration LATEST = Duration.ofMillis(1_500);

    private final SharedSchema schema = new SharedSchema();
    private final LinkedBlockingQueue<Call> calls = new LinkedBlockingQueue<>();
    private final List<Hub> hubs = new ArrayList<>();

    private record Call(String hub, String id, Instant at) {}

    private record Hub(Database database, DurableTimers timers, Timers own, Duration clock) {
        Instant in(Duration time) {
            return Instant.now().plus(clock).plus(time);
        }
    }

    @AfterEach
    void close() {
        hubs.forEach(hub -> hub.timers().close());
        hubs.forEach(hub -> hub.database().close());
    }

    private Hub hub(String name) {
        return hub(Duration.ZERO, (id, content) -> note(name, id));
    }

    private Hub hub(Duration clock, Handler handler) {
        Database database = schema.shared();
        InstantSource shown = () -> Instant.now().plus(clock);
        var timers = new DurableTimers(() -> database, shown);
        var hub = new Hub(database, timers, timers.named("test", handler), clock);
        hubs.add(hub);
        return hub;
    }

    private void note(String hub, String id) {
        calls.add(new Call(hub, id, Instant.now()));
    }

    private Call next() throws InterruptedException {
        Call call = calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS);
        assertThat(call).as("a call within %s s", DEADLINE_SECONDS).isNotNull();
        return call;
    }

    private static long number(Hub hub, String sql) {
        return hub.database().read(session -> session.number(sql));
    }

    private static long timers(Hub hub) {
        return number(hub, "SELECT count(*) FROM extension_timer");
    }

    @Test
    void timersAreCalledByOneOfTheHubs() throws Exception {
        int all = 400;
        var done = new CountDownLatch(all);
        var called = new LinkedBlockingQueue<String>();
        Handler handler = (id, content) -> {
            called.add(id);
            done.countDown();
        };
        Hub one = hub(Duration.ZERO, handler);
        Hub other = hub(Duration.ZERO, handler);
        one.timers().start();
        other.timers().start();

        for (int i = 0; i < all; i += 100) {
            int from = i;
            Hub setter = i % 200 == 0 ? one : other;
            setter.database().write(session -> {
                for (int id = from; id < from + 100; id++) {
                    setter.own().set(session, "timer-" + id, setter.in(Duration.ofMillis(500)), "");
                }
                return session;
            });
        }

        assertThat(done.await(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
        Eventually.holds("all timers are removed", () -> timers(one) == 0);
        assertThat(called).hasSize(all).doesNotHaveDuplicates();
    }

    @Test
    void timersOfAHubThatCallsNoneAreCalledByTheOtherInTime() throws Exception {
        Hub one = hub("one");
        Hub other = hub("other");
        other.timers().start();
        for (int i = 0; i < 3; i++) {
            Instant due = Instant.now().plusMillis(300);
            one.own().set("timer-" + i, due, "");

            Call call = next();
            assertThat(call.hub()).isEqualTo("other");
            assertThat(call.at()).isBetween(due, due.plus(LATEST));
        }
    }

    @Test
    void aTimerIsCalledInTimeThoughTheClocksOfHubsDiffer() throws Exception {
        Hub early = hub(Duration.ofHours(-1), (id, content) -> note("early", id));
        Hub late = hub(Duration.ofHours(1), (id, content) -> note("late", id));
        early.timers().start();
        for (Hub setter : List.of(early, late)) {
            Instant due = Instant.now().plusSeconds(1);
            setter.own().set("timer", setter.in(Duration.ofSeconds(1)), "");

            assertThat(next().at()).isBetween(due, due.plus(LATEST));
        }
    }

    @Test
    void aTimerOfAHubThatEndsInItsHandlerIsCalledByTheOtherAtOnce() throws Exception {
        var end = new CountDownLatch(1);
        Hub one = hub(Duration.ZERO, (id, content) -> {
            note("one", id);
            end.await();
        });
        one.timers().start();
        one.own().set("timer", Instant.now(), "");
        assertThat(next().hub()).isEqualTo("one");
        Hub other = hub("other");
        other.timers().start();
        long stream = ((PostgresqlSystem) one.database().system()).stream();
        assertThat(number(one, "SELECT claimed_by FROM extension_timer")).isEqualTo(stream);

        Instant ended = Instant.now();
        schema.run("DELETE FROM stream WHERE stream_no = " + stream);

        Call call = next();
        assertThat(call.hub()).isEqualTo("other");
        assertThat(call.at()).isBefore(ended.plus(LATEST));
        end.countDown();
    }

    @Test
    void aTimerThatBothHubsSetAtOnceIsThereOnce() throws Exception {
        Hub one = hub("one");
        Hub other = hub("other");
        for (int i = 0; i < 50; i++) {
            String id = "timer-" + i;
            var sets = new ArrayList<CompletableFuture<?>>();
            for (Hub hub : List.of(one, other)) {
                sets.add(CompletableFuture.runAsync(() -> hub.own().set(id, hub.in(Duration.ofHours(1)), "")));
            }
            CompletableFuture.allOf(sets.toArray(CompletableFuture[]::new)).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        }

        assertThat(timers(one)).isEqualTo(50);
    }

    @Test
    void aHandlerThatFailsIsCalledAgainByEitherHub() throws Exception {
        var attempts = new AtomicInteger();
        Handler handler = (id, content) -> {
            note("", id);
            if (attempts.incrementAndGet() == 1) {
                throw new IllegalStateException("planted");
            }
        };
        Hub one = hub(Duration.ZERO, handler);
        hub(Duration.ZERO, handler).timers().start();
        one.timers().start();

        one.own().set("timer", Instant.now(), "");

        Call first = next();
        assertThat(next().at()).isBetween(first.at().plusMillis(900), first.at().plusSeconds(3));
        Eventually.holds("the timer is removed", () -> timers(one) == 0);
        assertThat(calls).isEmpty();
    }

    @Test
    void aTimerThatItsHandlerSetsAnewIsKept() throws Exception {
        Hub one = hub("one");
        Hub other = hub(Duration.ZERO, (id, content) -> {
            one.own().set(id, one.in(Duration.ofHours(1)), "next");
            note("other", id);
        });
        other.timers().start();
        one.own().set("timer", Instant.now(), "first");
        next();
        one.own().set("second", Instant.now(), "first");
        next();

        assertThat(number(one, "SELECT count(*) FROM extension_timer WHERE content = 'next' AND claimed_by IS NULL"))
                .isEqualTo(2);
    }

    @Test
    void aTimerThatAPausedHubHasLockedDelaysNoOther() throws Exception {
        Hub one = hub("one");
        Hub other = hub("other");
        one.own().set("locked", Instant.now(), "");
        one.own().set("free", Instant.now(), "");
        try (Connection holder = schema.connect();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT 1 FROM extension_timer WHERE id = 'locked' FOR UPDATE");
            other.timers().start();

            assertThat(next().id()).isEqualTo("free");
            holder.rollback();
        }
        assertThat(next().id()).isEqualTo("locked");
    }
}
