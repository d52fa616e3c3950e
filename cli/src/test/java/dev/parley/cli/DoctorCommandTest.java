package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class DoctorCommandTest {
    @TempDir
    private Path directory;

    private Hub hub() {
        var never = new CountDownLatch(1);
        return Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .drain(Duration.ZERO)
                .agents(Agent.named("endless", "Works until it is stopped").handle((request, reply) -> {
                    reply.working("begun");
                    never.await();
                }))
                .start();
    }

    private Shell.Ran doctor(String... more) {
        String[] words = new String[3 + more.length];
        words[0] = "doctor";
        words[1] = "--data";
        words[2] = "data";
        System.arraycopy(more, 0, words, 3, more.length);
        return new Shell(directory).run(words);
    }

    /** Begins a task and returns its id. */
    private String begin(Hub hub) {
        Shell.Ran sent = new Shell(directory).run("send", "-a", hub.agentUrl("endless"), "--async", "-o", "json", "go");
        assertThat(sent.status()).as(sent.err()).isZero();
        return sent.out().replaceFirst("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
    }

    @Test
    void aHealthyDirectoryHasNoProblemBesideItsHubAndAfterIt() {
        try (Hub hub = hub()) {
            begin(hub);
            Shell.Ran beside = doctor();
            assertThat(beside.out())
                    .contains("database: ok", "tasks: ok, 1 of 1", "token.secret: ok", "hub: ok, runs")
                    .containsPattern("disk: \\w+, \\d+ MiB free");
            assertThat(beside.status()).isZero();
            begin(hub); // the hub goes on writing
        }
        Shell.Ran after = doctor("-o", "json");
        assertThat(after.out())
                .contains(
                        "{\"check\":\"hub\",\"level\":\"ok\",\"message\":\"does not run\"}",
                        "2 of 2 unfinished tasks read, 0 set aside");
        assertThat(after.status()).isZero();
        hub().close(); // nothing of the directory is held
    }

    @Test
    void aClockThatIsBehindTheNewestEventIsAWarning() throws Exception {
        try (Hub hub = hub()) {
            begin(hub);
        }
        assertThat(doctor().out()).contains("clock: ok");
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("data/parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("UPDATE audit_log SET at_ms = at_ms + 86400000");
        }

        Shell.Ran behind = doctor();

        assertThat(behind.out()).contains("clock: warning, the clock shows ", "which is before the newest event");
        assertThat(behind.status()).isZero();
    }

    @Test
    void aTaskOfWhichOneByteWasChangedIsListed() throws Exception {
        String damaged;
        try (Hub hub = hub()) {
            damaged = begin(hub);
            begin(hub);
        }
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("data/parley.db"));
                Statement statement = database.createStatement()) {
            assertThat(statement.executeUpdate("UPDATE segment SET events = CAST('x' || substr(events, 2) AS BLOB)"
                            + " WHERE first_seq = 1 AND task_id = '" + damaged + "'"))
                    .isEqualTo(1);
        }

        Shell.Ran ran = doctor();
        assertThat(ran.status()).as(ran.out()).isEqualTo(1);
        assertThat(ran.out())
                .contains("task: problem, " + damaged + " of agent endless, group default: ")
                .contains("cannot be read")
                .contains("tasks: problem, 2 of 2 unfinished tasks read, 1 set aside");
        assertThat(doctor("-o", "json").out())
                .contains("\"level\":\"problem\",\"taskId\":\"" + damaged + "\",\"agent\":\"endless\"");
    }

    @Test
    void tasksThatCannotBeListedAreAProblemOfTheDatabase() throws Exception {
        hub().close();
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("data/parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("ALTER TABLE task RENAME TO other");
        }

        assertThat(doctor().out()).contains("database: problem, ").doesNotContain("tasks: ");
    }

    @Test
    void aSecretThatIsEmptyOrOfOthersIsReported() throws Exception {
        hub().close();
        Files.writeString(directory.resolve("data/token.secret"), "");
        Files.setPosixFilePermissions(
                directory.resolve("data/webhook.master"), PosixFilePermissions.fromString("rw-r--r--"));
        Files.delete(directory.resolve("data/encryption.key"));

        Shell.Ran ran = doctor();
        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.out())
                .contains("token.secret: problem, ", "expected: at least 32")
                .contains("webhook.master: warning, other users")
                .contains("encryption.key: warning, missing");
        assertThat(directory.resolve("data/encryption.key")).doesNotExist();
    }

    @Test
    void aDirectoryWithoutADatabaseIsAProblem() throws Exception {
        assertThat(doctor().status()).as("no directory").isEqualTo(2);
        Files.createDirectory(directory.resolve("data"));
        Shell.Ran ran = doctor();
        assertThat(ran.status()).isEqualTo(1);
        assertThat(ran.out()).contains("database: problem, ", "no database");
        assertThat(directory.resolve("data")).isEmptyDirectory();
    }

    @Test
    void agentsWhoseNamesLookAlikeAreNamed() {
        try (Hub hub = Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .agents(
                        Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete("echo")),
                        Agent.named("ech0", "Echoes too").handle((request, reply) -> reply.complete("ech0")))
                .start()) {
            for (String agent : new String[] {"echo", "ech0"}) {
                assertThat(new Shell(directory)
                                .run("send", "-a", hub.agentUrl(agent), "go")
                                .status())
                        .isZero();
            }
        }

        Shell.Ran found = doctor();

        assertThat(found.out())
                .contains("agents: warning, \"ech0\" and \"echo\" have names that look alike")
                .containsPattern(
                        "registry: warning, entries \\S+:agents:ech[0o] and \\S+:agents:ech[0o] have names that look");
        assertThat(found.status()).as("a warning").isZero();
    }
}
