package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.SilentProxy;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A database that keeps statements waiting delays no caller for longer than promised, and loses nothing. */
@Tag("heavy")
@Tag("measured")
@Timeout(240)
final class StalledDatabaseTest {
    private static final Logger LOG = System.getLogger(StalledDatabaseTest.class.getName());
    private static final int SENDERS = 4;

    /** More than the connections for reads: without a limit of their waits, a hub would have none left. */
    private static final int READERS = 6;

    @TempDir
    private Path directory;

    /** A fault that lasts for some time. */
    private interface Fault {
        void last(HubProcess hub) throws Exception;
    }

    @Test
    void messagesAreRefusedInTimeWhileARowOfTheStreamIsLocked() throws Exception {
        expectRefusalsWhileLocked(
                "SELECT stream_no FROM stream FOR UPDATE", Duration.ofSeconds(Promise.LONG ? 75 : 30));
    }

    @Test
    void readsAndMessagesAreRefusedInTimeWhileTheTableOfTasksIsLocked() throws Exception {
        expectRefusalsWhileLocked(
                "LOCK TABLE task IN ACCESS EXCLUSIVE MODE", Duration.ofSeconds(Promise.LONG ? 75 : 20));
    }

    /** Another session takes locks with {@code statement}, and holds them for {@code length}. */
    private void expectRefusalsWhileLocked(String statement, Duration length) throws Exception {
        try (var server = DatabaseServer.primary();
                var hub = HubProcess.start(directory, server.url())) {
            expectRefusalsInTime(hub, unused -> {
                try (Connection other = server.connect();
                        Statement lock = other.createStatement()) {
                    other.setAutoCommit(false);
                    lock.execute(statement);
                    Promise.last(length, hub);
                }
            });
        }
    }

    @Test
    void readsAndMessagesAreRefusedInTimeWhileTheNetworkIsSilent() throws Exception {
        Duration length = Duration.ofSeconds(Promise.LONG ? 90 : 30);
        try (var server = DatabaseServer.primary();
                var proxy = new SilentProxy(server.port());
                var hub = HubProcess.start(directory, DatabaseServer.url(proxy.port()))) {
            expectRefusalsInTime(hub, unused -> {
                proxy.hold();
                Promise.last(length, hub);
                proxy.release();
            });
        }
    }

    private static void expectRefusalsInTime(HubProcess hub, Fault fault) throws Exception {
        HubCalls calls = hub.calls();
        try (var senders = new Senders(calls, SENDERS)) {
            senders.await(300);
            Supplier<String> tasks = senders.tasks();
            try (var reads = Repeated.calls(READERS, () -> calls.task(tasks.get()));
                    var probes = Repeated.calls(1, calls::ready)) {
                long begun = System.nanoTime();
                fault.last(hub);
                long ended = System.nanoTime();
                Promise.awaitReturn(hub, calls, senders);

                Answer refusal = senders.firstRefusal(begun);
                LOG.log(
                        Level.INFO,
                        "first refusal {0}, slowest message {1}, slowest read {2}",
                        refusal == null ? "none" : Duration.ofNanos(refusal.endedNanos() - begun),
                        senders.slowest(begun).duration(),
                        reads.slowest(begun).duration());
                assertThat(refusal).as("refusal of a message").isNotNull();
                assertThat(Duration.ofNanos(refusal.endedNanos() - begun)).isLessThan(Promise.REFUSAL);
                assertThat(senders.slowest(begun).duration())
                        .as("slowest message")
                        .isLessThan(Promise.REFUSAL);
                assertThat(reads.slowest(begun).duration()).as("slowest read").isLessThan(Promise.READ);
                assertThat(probes.since(begun).filter(probe -> probe.endedNanos() < ended))
                        .as("answers of /ready during the fault")
                        .anyMatch(probe -> probe.status() == Answer.UNAVAILABLE);
            }
            senders.verify();
        }
    }
}
