package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.SilentProxy;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Changes of the server behind one address, as a balancer or a moved address makes them. */
@Tag("heavy")
@Tag("measured")
@Timeout(240)
final class FailoverTest {
    private static final int SENDERS = 4;
    /** More than the connections for reads, so that each of them is used. */
    private static final int READERS = 8;

    @TempDir
    private Path directory;

    @Test
    void tasksAreReadFromTheServerThatTheyWereWrittenTo() throws Exception {
        try (var primary = DatabaseServer.primary();
                var standby = primary.standby();
                var proxy = new SilentProxy(primary.port());
                var hub = HubProcess.start(directory, DatabaseServer.url(proxy.port()))) {
            HubCalls calls = hub.calls();
            try (var senders = new Senders(calls, SENDERS)) {
                senders.await(50);
                Supplier<String> tasks = senders.tasks();
                primary.awaitReplayed(standby);

                proxy.lead(standby.port());
                proxy.cut();
                try (var reads = Repeated.calls(READERS, () -> calls.task(tasks.get()))) {
                    long begun = System.nanoTime();
                    Eventually.holds(
                            "each connection for reads has been used",
                            () -> reads.since(begun).count() > 5 * READERS);
                }
                proxy.lead(primary.port());
                senders.await(50, Promise.RETURN);
                senders.verify();
            }
            standby.pauseReplay();
            var sent = new LinkedHashMap<String, String>();
            while (sent.size() < 100) {
                String messageId = UUID.randomUUID().toString();
                String task = calls.send(messageId).sentTask();
                assertThat(task).isNotNull();
                sent.put(messageId, task);
            }

            Senders.verify(calls, sent);
        }
    }

    @Test
    void aMessageIsNotAcknowledgedBeforeTheSynchronousStandbyHasIt() throws Exception {
        try (var primary = DatabaseServer.primary();
                var standby = primary.standby();
                var hub = HubProcess.start(directory, primary.url())) {
            primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
            HubCalls calls = hub.calls();
            assertThat(calls.send("before").sentTask()).isNotNull();

            standby.stopImmediately();
            Answer first = calls.send("between");
            Answer repetition = calls.send("between");
            standby.start();
            Answer acknowledgement = Eventually.value(
                    "the message is acknowledged", () -> calls.send("between"), answer -> answer.sentTask() != null);

            assertThat(first.status()).as(first.toString()).isEqualTo(Answer.UNAVAILABLE);
            assertThat(first.duration()).isLessThan(Promise.REFUSAL);
            assertThat(repetition.status()).as(repetition.toString()).isEqualTo(Answer.UNAVAILABLE);
            assertThat(repetition.duration()).isLessThan(Promise.REFUSAL);
            assertThat(calls.tasks()).isEqualTo(2);
            assertThat(calls.send("between").sentTask()).isEqualTo(acknowledgement.sentTask());
        }
    }

    @Test
    void whatAnAsynchronousStandbyLacksIsNoticedAndForgotten() throws Exception {
        try (var primary = DatabaseServer.primary();
                var stream = new SilentProxy(primary.port());
                var standby = primary.standby(stream.port());
                var proxy = new SilentProxy(primary.port());
                var hub = HubProcess.start(directory, DatabaseServer.url(proxy.port()))) {
            HubCalls calls = hub.calls();
            var kept = new LinkedHashMap<String, String>();
            var lost = new LinkedHashMap<String, String>();
            try (var senders = new Senders(calls, SENDERS)) {
                senders.await(200);
                senders.close();
                kept.putAll(senders.acknowledged());
            }
            primary.awaitReplayed(standby);
            stream.refuse();
            stream.cut();
            try (var senders = new Senders(calls, SENDERS)) {
                senders.await(300);
                senders.close();
                lost.putAll(senders.acknowledged());
            }

            primary.stopImmediately();
            standby.promote();
            long groups = standby.number("SELECT max(group_no) FROM stream_group");
            proxy.lead(standby.port());
            String messageId = UUID.randomUUID().toString();
            Answer after = Eventually.value(
                    "the hub acknowledges", () -> calls.send(messageId), answer -> answer.sentTask() != null);
            primary.start();
            long missing = primary.number("SELECT max(group_no) FROM stream_group") - groups;

            var wrong = new ArrayList<String>();
            lost.forEach((message, task) -> {
                Answer read = calls.task(task);
                if (read.status() != Answer.MISSING) {
                    wrong.add("read: " + read);
                }
                String again = calls.send(message).sentTask();
                if (again == null || again.equals(task)) {
                    wrong.add("sent again: " + again + " for " + task);
                }
            });
            assertThat(missing).isPositive();
            assertThat(wrong).isEmpty();
            Senders.verify(calls, kept);
            assertThat(calls.tasks()).isEqualTo(kept.size() + lost.size() + 1);
            assertThat(calls.metric("parley_lost_groups_total")).hasValue((double) missing);
            assertThat(hub.log()).contains("lacks the last " + missing + " transactions");
            assertThat(after.sentTask()).isNotNull();
        }
    }

    @Test
    void hubsThatShareTheDatabaseGoOnAfterAFailover() throws Exception {
        int port = DebianPostgresql.freePort();
        int otherPort = DebianPostgresql.freePort();
        Path secrets = directory.resolve("one").resolve("data");
        try (var primary = DatabaseServer.primary();
                var standby = primary.standby();
                var proxy = new SilentProxy(primary.port());
                var unused =
                        HubProcess.share(directory.resolve("one"), secrets, DatabaseServer.url(proxy.port()), port)) {
            var calls = new HubCalls("http://127.0.0.1:" + port);
            Eventually.holds("the first hub works", () -> calls.ready().status() == Answer.OK);
            String task = calls.send("before").sentTask();
            assertThat(task).isNotNull();
            try (var alsoUnused = HubProcess.share(
                    directory.resolve("other"), secrets, DatabaseServer.url(proxy.port()), otherPort)) {
                var other = new HubCalls("http://127.0.0.1:" + otherPort);
                Eventually.holds("the other one works", () -> other.ready().status() == Answer.OK);
                primary.awaitReplayed(standby);

                primary.stopImmediately();
                standby.promote();
                proxy.lead(standby.port());
                proxy.cut();
                Eventually.holds(
                        "the first hub goes on", () -> calls.send("between").sentTask() != null);
                Eventually.holds(
                        "the other one goes on", () -> other.send("after").sentTask() != null);
                assertThat(other.send("before").sentTask()).isEqualTo(task);
                assertThat(calls.send("after").sentTask())
                        .isEqualTo(other.send("after").sentTask());
            }
        }
    }
}
