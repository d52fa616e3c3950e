package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A snapshot that is open for long, such as that of pg_dump, keeps each version of a row, and statements look through them all. The
 * server's own time of the statements of a message shows that after few messages; its median also on a busy machine.
 */
@Tag("heavy")
@Tag("measured")
@Timeout(600)
final class LongSnapshotTest {
    private static final Logger LOG = System.getLogger(LongSnapshotTest.class.getName());
    private static final int TASKS = Promise.LONG ? 20_000 : 3_000;
    private static final int WARM_UP = 300;
    private static final int MESSAGES = 200;
    private static final double MOST = 1.5;
    /** Few, so that there are many transactions. */
    private static final int SENDERS = 2;

    @TempDir
    private Path directory;

    /** A hub on a server of its own, without a snapshot, is the control. */
    @Test
    void aLoneMessageTakesAsLongBesideAnOpenSnapshotAsWithoutOne() throws Exception {
        String measured = "shared_preload_libraries = 'pg_stat_statements'";
        try (var server = DatabaseServer.primary(measured);
                var other = DatabaseServer.primary(measured);
                var hub = HubProcess.start(directory.resolve("hub"), server.url());
                var control = HubProcess.start(directory.resolve("control"), other.url());
                Connection reader = server.connect();
                Statement snapshot = reader.createStatement()) {
            HubCalls calls = hub.calls();
            HubCalls controlCalls = control.calls();
            server.execute("CREATE EXTENSION pg_stat_statements");
            other.execute("CREATE EXTENSION pg_stat_statements");
            reader.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            snapshot.execute("SELECT count(*) FROM task");
            send(controlCalls, WARM_UP);
            send(calls, TASKS);

            var times = new Times(calls, server);
            var controlTimes = new Times(controlCalls, other);
            for (int i = 0; i < MESSAGES; i++) {
                times.add();
                controlTimes.add();
            }

            double onServer = ratio(times.statements, controlTimes.statements);
            double ratio = ratio(times.messages, controlTimes.messages);
            LOG.log(
                    Level.INFO,
                    "beside a snapshot after {0} tasks: median {1} (without: {2}), ratio {3}; on the server {4}",
                    TASKS,
                    median(times.messages),
                    median(controlTimes.messages),
                    ratio,
                    onServer);
            assertThat(onServer)
                    .as("median time of the statements of a message, by that without a snapshot")
                    .isLessThan(MOST);
            if (Promise.LONG) { // after so few messages the time on the network hides what is slower
                assertThat(ratio).as("median time, by that without a snapshot").isLessThan(MOST);
            }
        }
    }

    private static void send(HubCalls calls, int messages) {
        try (var senders = new Senders(calls, SENDERS)) {
            senders.await(messages, Promise.LONG ? Duration.ofMinutes(5) : Eventually.DEADLINE.multipliedBy(2));
        }
    }

    /** Durations of messages that are sent one at a time, and the execution times of their statements on the server. */
    private record Times(HubCalls calls, DatabaseServer server, List<Duration> messages, List<Duration> statements) {
        Times(HubCalls calls, DatabaseServer server) {
            this(calls, server, new ArrayList<>(), new ArrayList<>());
        }

        void add() throws SQLException {
            Duration before = onServer();
            Answer answer = calls.send(UUID.randomUUID().toString());
            assertThat(answer.sentTask()).as(answer.toString()).isNotNull();
            messages.add(answer.duration());
            statements.add(onServer().minus(before));
        }

        private Duration onServer() throws SQLException {
            return Duration.ofNanos(
                    server.number("SELECT (1000000 * sum(total_exec_time))::bigint FROM pg_stat_statements"
                            + " WHERE userid = 'parley'::regrole"));
        }
    }

    private static double ratio(List<Duration> times, List<Duration> control) {
        return (double) median(times).toNanos() / median(control).toNanos();
    }

    private static Duration median(List<Duration> times) {
        var sorted = new ArrayList<>(times);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }
}
