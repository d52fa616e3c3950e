package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connections that end, and cannot be made. */
@Tag("heavy")
@Tag("measured")
@Timeout(240)
final class LostConnectionsTest {
    private static final int SENDERS = 4;
    private static final int TERMINATIONS = Promise.LONG ? 200 : 20;
    private static final int RESTARTS = Promise.LONG ? 20 : 3;

    @TempDir
    private Path directory;

    @Test
    void theHubIsNotReadyWhileItCannotReadTasks() throws Exception {
        try (var server = DatabaseServer.primary();
                var hub = HubProcess.start(directory, server.url())) {
            HubCalls calls = hub.calls();
            try (var senders = new Senders(calls, SENDERS)) {
                senders.await(50);
                Supplier<String> tasks = senders.tasks();
                server.execute("ALTER ROLE parley CONNECTION LIMIT 1");
                server.terminateSessions();
                Eventually.within(
                        Promise.RETURN,
                        "the writer is back",
                        () -> calls.send("probe").sentTask() != null);
                long begun = System.nanoTime();
                List<Answer> readiness;
                List<Answer> reads;
                try (var reading = Repeated.calls(6, () -> calls.task(tasks.get()));
                        var probes = Repeated.calls(1, calls::ready)) {
                    Promise.last(Duration.ofSeconds(10), hub);
                    reads = reading.since(begun).toList();
                    readiness = probes.since(begun).toList();
                }

                server.execute("ALTER ROLE parley CONNECTION LIMIT -1");
                Eventually.within(
                        Promise.RETURN,
                        "tasks are read again",
                        () -> calls.task(tasks.get()).status() == Answer.OK);
                Promise.awaitReturn(hub, calls, senders);
                // A probe takes 2 s at most; later ones know that reads fail.
                long found = begun + Duration.ofSeconds(4).toNanos();
                assertThat(reads)
                        .filteredOn(read -> read.endedNanos() > found)
                        .as("reads")
                        .isNotEmpty()
                        .allMatch(read -> read.status() == Answer.UNAVAILABLE);
                assertThat(readiness)
                        .filteredOn(ready -> ready.begunNanos() > found)
                        .as("/ready")
                        .isNotEmpty()
                        .allMatch(ready -> ready.status() == Answer.UNAVAILABLE);
            }
        }
    }

    @Test
    void nothingIsLostOrDoubledWhenConnectionsAreTerminatedUnderLoad() throws Exception {
        try (var server = DatabaseServer.primary();
                var hub = HubProcess.start(directory, server.url())) {
            HubCalls calls = hub.calls();
            try (var senders = new Senders(calls, SENDERS)) {
                for (int i = 0; i < TERMINATIONS; i++) {
                    senders.await(25);
                    server.terminateSessions();
                }

                Promise.awaitReturn(hub, calls, senders);
                senders.verify();
            }
        }
    }

    @Test
    void nothingIsLostOrDoubledWhenTheServerRestartsUnderLoad() throws Exception {
        try (var server = DatabaseServer.primary();
                var hub = HubProcess.start(directory, server.url())) {
            HubCalls calls = hub.calls();
            try (var senders = new Senders(calls, SENDERS)) {
                for (int i = 0; i < RESTARTS; i++) {
                    senders.await(50);
                    server.stopImmediately();
                    server.start();
                }

                Promise.awaitReturn(hub, calls, senders);
                senders.verify();
            }
        }
    }
}
