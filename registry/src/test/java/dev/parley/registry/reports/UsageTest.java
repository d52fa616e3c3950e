package dev.parley.registry.reports;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.registry.reports.Usage.Measured;
import dev.parley.store.database.Database;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.SettableClock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class UsageTest {
    private static final String GROUP = "blue";

    private final SettableClock clock = new SettableClock(Instant.parse("2027-01-01T12:00:00Z"));

    @TempDir
    private Path directory;

    private Database database;
    private Usage usage;

    @BeforeEach
    void open() {
        database = Database.open(directory);
        usage = new Usage(database, clock);
    }

    @AfterEach
    void close() {
        usage.close();
        database.close();
    }

    private void call(String caller) {
        usage.called(
                "echo",
                new Operation.GetTask(null, "t", null),
                CallContext.of(caller, new CallContext.Scope(GROUP, caller)),
                1_000_000,
                null);
    }

    private List<Measured> measures(String caller) {
        return usage.of(GROUP, caller, 0, 10);
    }

    private List<String> callers() {
        var callers = new ArrayList<String>();
        usage.read(
                Instant.EPOCH,
                clock.instant().plusSeconds(1),
                GROUP,
                row -> callers.add(row.key().caller()));
        return callers;
    }

    @Test
    @DisplayName("an erasure replaces the name of a caller in all hours, and leaves its numbers and other callers")
    void anErasureReplacesTheName() {
        call("alice");
        clock.advance(Duration.ofHours(1));
        call("alice");
        call("alice");
        call("bob");
        List<Measured> before = measures("alice");

        int erased = usage.erase(GROUP, "alice");

        assertThat(erased).isEqualTo(2);
        assertThat(measures("alice")).isEmpty();
        assertThat(measures("bob")).hasSize(1);
        assertThat(callers()).hasSize(3).doesNotContain("alice").contains("bob");
        String name = callers().stream()
                .filter(caller -> !caller.equals("bob"))
                .findFirst()
                .orElseThrow();
        assertThat(measures(name)).isEqualTo(before).hasSize(2);
    }

    @Test
    @DisplayName("calls after an erasure are counted anew, and none of the erased ones again")
    void callsAfterAnErasureAreCountedAnew() {
        call("alice");
        List<Measured> one = measures("alice");
        call("alice");

        usage.erase(GROUP, "alice");
        call("alice");

        assertThat(measures("alice")).isEqualTo(one);
    }

    @Test
    @DisplayName("reports of others do not wait for an erasure")
    void reportsOfOthersDoNotWait() throws Exception {
        call("alice");
        call("bob");
        List<Measured> before = measures("bob");
        var blocked = new CountDownLatch(1);
        var free = new Semaphore(0);
        Thread writer = Thread.ofVirtual()
                .start(() -> database.write(session -> {
                    blocked.countDown();
                    free.acquireUninterruptibly();
                    return 0;
                }));
        blocked.await();
        var erasure = new FutureTask<>(() -> usage.erase(GROUP, "alice"));
        Thread thread = Thread.ofPlatform().start(erasure);
        try {
            Eventually.holds("the erasure waits for the writer", () -> thread.getState() == Thread.State.WAITING);
            var report = new FutureTask<>(() -> measures("bob"));
            Thread.ofVirtual().start(report);

            assertThat(report.get(30, TimeUnit.SECONDS)).isEqualTo(before);
        } finally {
            free.release();
        }
        assertThat(erasure.get()).isEqualTo(1);
        writer.join();
    }
}
