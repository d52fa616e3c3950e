package dev.parley.hub.extensions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.extension.HubTimers.Timers;
import dev.parley.store.database.Database;
import dev.parley.store.spi.StoreException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class DurableTimersTest {
    private static final long DEADLINE_SECONDS = 30;

    @TempDir
    private Path directory;

    private final LinkedBlockingQueue<String> calls = new LinkedBlockingQueue<>();

    @Test
    void aHandlerThatFailsIsCalledAgain() throws Exception {
        try (Database database = Database.open(directory);
                var timers = new DurableTimers(() -> database, InstantSource.system())) {
            var attempts = new AtomicInteger();
            Timers own = timers.named("test", (id, content) -> {
                calls.add(content);
                if (attempts.incrementAndGet() == 1) {
                    throw new IllegalStateException("planted");
                }
            });
            timers.start();

            own.set("one", Instant.now(), "again");

            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("again");
            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("again");
        }
    }

    @Test
    void timersAreCalledInTheOrderOfTheirTimesAndCanceledOnesNever() throws Exception {
        try (Database database = Database.open(directory);
                var timers = new DurableTimers(() -> database, InstantSource.system())) {
            Timers own = timers.named("test", (id, content) -> calls.add(id));
            Instant now = Instant.now();
            own.set("late", now.plusMillis(600), "");
            own.set("canceled", now.plusMillis(100), "");
            own.set("moved", now.plusSeconds(3_600), "");
            own.set("moved", now.plusMillis(300), "");
            own.cancel("canceled");
            timers.start();

            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("moved");
            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("late");
            assertThat(calls).isEmpty();
        }
    }

    @Test
    void anErasureRemovesOrChangesTheContentsOfTimersAndLeavesTheirTimes() throws Exception {
        try (Database database = Database.open(directory);
                var timers = new DurableTimers(() -> database, InstantSource.system())) {
            Timers own = timers.named("test", (id, content) -> calls.add(content));
            Timers other = timers.named("other", (id, content) -> calls.add(content));
            Instant now = Instant.now();
            own.set("1", now, "alice");
            own.set("2", now.plusMillis(300), "alice and bob");
            own.set("3", now.plusMillis(600), "bob");
            other.set("1", now.plusMillis(900), "alice");

            int erased = own.erase(content -> content.equals("alice") ? null : content.replace("alice", "x"));

            timers.start();
            assertThat(erased).isEqualTo(2);
            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("x and bob");
            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("bob");
            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("alice");
            assertThat(calls).isEmpty();
        }
    }

    @Test
    void slowHandlersDelayNoTimersOfOtherNamesAndTheirOwnOnlyUntilTheyEnd() throws Exception {
        try (Database database = Database.open(directory);
                var timers = new DurableTimers(() -> database, InstantSource.system())) {
            var end = new CountDownLatch(1);
            Timers slow = timers.named("a", (id, content) -> {
                end.await();
                calls.add("slow");
            });
            Timers quick = timers.named("b", (id, content) -> calls.add("quick"));
            timers.start();
            int more = 200; // than run at once
            for (int i = 0; i < more; i++) {
                slow.set("slow " + i, Instant.now(), "");
            }

            quick.set("one", Instant.now(), "");
            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("quick");

            end.countDown();
            for (int i = 0; i < more; i++) {
                assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("slow");
            }
        }
    }

    @Test
    void aTimerOfATransactionThatFailsIsNotSet() throws Exception {
        try (Database database = Database.open(directory);
                var timers = new DurableTimers(() -> database, InstantSource.system())) {
            Timers own = timers.named("test", (id, content) -> calls.add(id));
            timers.start();
            try {
                database.write(session -> {
                    own.set(session, "undone", Instant.now(), "");
                    throw new IllegalStateException("planted");
                });
            } catch (StoreException expected) {
                assertThat(expected).hasRootCauseMessage("planted");
            }
            database.write(session -> {
                own.set(session, "done", Instant.now(), "");
                return session;
            });

            assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(calls).isEmpty();
        }
    }

    @Test
    void manyTimersAreAllCalled() throws Exception {
        try (Database database = Database.open(directory);
                var timers = new DurableTimers(() -> database, InstantSource.system())) {
            Timers own = timers.named("test", (id, content) -> calls.add(id));
            timers.start();
            database.write(session -> {
                for (int i = 0; i < 500; i++) {
                    own.set(session, "timer-" + i, Instant.now(), "");
                }
                return session;
            });

            for (int i = 0; i < 500; i++) {
                assertThat(calls.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isNotNull();
            }
            assertThat(calls).isEmpty();
        }
    }
}
