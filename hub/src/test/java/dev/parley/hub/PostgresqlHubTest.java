package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.hub.admin.Administration;
import dev.parley.hub.admin.HubOperation.Level;
import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.Store;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.TaskFilter;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hub whose database is PostgreSQL. */
@Timeout(120)
@Tag("heavy")
final class PostgresqlHubTest {
    @TempDir
    private Path data;

    private HubBuilder hub() {
        return Hub.builder()
                .data(data)
                .port(0)
                .agents(Agent.named("echo", "Says it again")
                        .handle((request, reply) -> reply.complete(request.text())));
    }

    private static String send(Hub hub, String text) throws Exception {
        String message =
                "{'message':{'messageId':'" + text + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]}}";
        return new Outsider(hub.url())
                .result("/agents/echo", "SendMessage", message, "A2A-Version", "1.0")
                .at("task", "id")
                .text();
    }

    @Test
    void tasksAreThereAfterARestartThatNamesOnlyTheDirectory() throws Exception {
        String id;
        try (Hub hub = hub().database(PostgresqlServer.url()).start()) {
            id = send(hub, "hello");
        }

        try (Hub hub = hub().start()) {
            Shown task = new Outsider(hub.url())
                    .result("/agents/echo", "GetTask", "{'id':'" + id + "'}", "A2A-Version", "1.0");
            assertThat(task.at("status", "state").text()).isEqualTo("TASK_STATE_COMPLETED");
            assertThat(send(hub, "hello")).isEqualTo(id); // the same message
            assertThat(new Outsider(hub.url()).get("/ready").statusCode()).isEqualTo(200);
        }
        assertThat(data.resolve("parley.db")).doesNotExist();
        assertThat(OwnersOnly.is(data.resolve("database.url"))).isTrue();
    }

    @Test
    void commandsForADirectoryFindItsDatabaseBesideAHubAndAfterIt() throws Exception {
        String id;
        try (Hub hub = hub().database(PostgresqlServer.url()).start()) {
            id = send(hub, "hello");
            assertThat(Checkup.of(data, null, null)).noneMatch(finding -> finding.level() == Level.PROBLEM);
            assertThat(Checkup.of(data, null, null))
                    .anyMatch(finding -> finding.toString().contains("runs"));
            assertThatThrownBy(() -> Administration.open(data))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("in use by another hub");
        }

        assertThat(Store.tasks(data, new TaskFilter(null, null, null, null, null, null, 10)))
                .extracting(head -> head.key().taskId())
                .containsExactly(id);
        assertThat(Checkup.of(data, null, null))
                .anyMatch(finding -> finding.toString().contains("does not run"));
        Administration.open(data).close();
    }

    /** This program is the older release: the tables get the version that a later one gives them. */
    @Test
    void checksOfAnOlderReleaseKnowWhetherItCanUseTheTablesOfANewerOne() throws Exception {
        String url = PostgresqlServer.url();
        int known = Release.current().tasks().scripts().size();
        hub().database(url).start().close();
        assertThat(tables()).isEqualTo("OK: schema " + known);

        execute(url, "UPDATE module_version SET version = version + 1 WHERE module = 'task'");
        assertThat(tables())
                .isEqualTo("WARNING: schema " + (known + 1) + ", of a newer Parley; hubs of this release, which has "
                        + known + ", can use it with --cluster until the upgrade is finished");
        assertThat(Checkup.of(data, null, null))
                .anyMatch(finding -> finding.check().equals("tasks"));

        execute(url, "UPDATE module_version SET readable_from = version WHERE module = 'task'");
        assertThat(tables())
                .isEqualTo("PROBLEM: schema " + (known + 1) + ", of a newer Parley (expected: " + known + ")");
        assertThat(Checkup.of(data, null, null))
                .noneMatch(finding -> finding.check().equals("tasks"));

        execute(url, "UPDATE module_version SET version = version - 1, readable_from = 0 WHERE module = 'task'");
        execute(
                url,
                "INSERT INTO epoch (kind, n) VALUES (" + Epoch.LEVEL.number() + ", " + (Release.newest() + 1)
                        + ") ON CONFLICT (kind) DO UPDATE SET n = excluded.n");
        assertThat(tables())
                .isEqualTo("PROBLEM: schema " + known
                        + " with rows of a newer Parley, whose upgrade is finished (expected: that release)");
    }

    private static void execute(String url, String sql) throws SQLException {
        try (Connection connection = PostgresqlServer.connect(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String tables() {
        return Checkup.of(data, null, null).stream()
                .filter(finding -> finding.check().equals("database"))
                .map(finding -> finding.level() + ": " + finding.message())
                .collect(Collectors.joining("\n"));
    }

    @Test
    void anIdWithTheCharacterNulIsRefusedBeforeItIsWritten() throws Exception {
        try (Hub hub = hub().database(PostgresqlServer.url()).start()) {
            var caller = new Outsider(hub.url());
            for (String ids : List.of("'messageId':'a\\u0000b'", "'messageId':'a','contextId':'\\u0000'")) {
                String message = "{'message':{" + ids + ",'role':'ROLE_USER','parts':[{'text':'hi'}]}}";
                assertThat(String.valueOf(caller.code("/agents/echo", "SendMessage", message, "A2A-Version", "1.0")))
                        .as(ids)
                        .isEqualTo("-32602");
            }
            assertThat(String.valueOf(caller.code("/agents/echo", "GetTask", "{'id':'\\u0000'}", "A2A-Version", "1.0")))
                    .isEqualTo("-32001"); // not found
            send(hub, "hello");
            assertThat(caller.get("/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aDirectoryWithTasksInSqliteIsRefused() throws Exception {
        hub().start().close();

        assertThatThrownBy(() -> hub().database(PostgresqlServer.url()).start())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("SQLite");
    }

    @Test
    void aServerThatIsNotThereIsNamedWithoutThePassword() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }

        assertThatThrownBy(() -> hub().database("postgresql://parley:s3cret@localhost:" + port + "/parley")
                        .start())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("PostgreSQL at localhost:" + port + "/parley")
                .hasMessageContaining("start the server")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    void whatIsNoUrlOfPostgresqlIsRefusedAndNotKept() throws IOException {
        for (String url : List.of(
                "mysql://localhost/parley",
                "postgresql://localhost",
                "postgresql://localhost:99999/parley",
                "parley",
                "postgresql:///x y")) {
            assertThatThrownBy(() -> hub().database(url).start())
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("expected: postgresql://");
        }

        try (var files = Files.list(data)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void aDatabaseThatCannotBeOpenedIsNotKept() throws Exception {
        String url = PostgresqlServer.url();
        String mistyped = url.replace("/postgres?", "/postgers?");

        assertThatThrownBy(() -> hub().database(mistyped).start())
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("postgers")
                .hasMessageContaining("createdb");
        assertThat(data.resolve("database.url")).doesNotExist();
        hub().database(url).start().close();
        assertThatThrownBy(() -> hub().database(mistyped).start()).isInstanceOf(NotOpenedException.class);

        try (Hub hub = hub().start()) { // still finds the database that it had
            send(hub, "hello");
        }
    }

    @Test
    void aParameterThatTheDriverRefusesIsAFaultOfTheSetting() throws Exception {
        String url = PostgresqlServer.url() + "&sslmode=sometimes";

        assertThatThrownBy(() -> hub().database(url).start())
                .isInstanceOfSatisfying(
                        NotOpenedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(NotOpenedException.Reason.SETTING));
    }

    @Test
    void anIdleHubTellsWhenItsServerIsStoppedAndWhenItIsBack(@TempDir Path files) throws Exception {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setDataDirectory(files)
                .setCleanDataDirectory(false)
                .setPGStartupWait(PostgresqlServer.STARTUP);
        EmbeddedPostgres server = builder.start();
        builder.setPort(server.getPort());
        try (Hub hub = hub().database("postgresql://postgres@localhost:" + server.getPort() + "/postgres")
                .start()) {
            var caller = new Outsider(hub.url());
            caller.awaitReady(200, "");

            server.close();
            caller.awaitReady(503, "the database cannot be written");
            server = builder.start();
            caller.awaitReady(200, ""); // although nothing is written

            suspend(files, true);
            caller.awaitReady(503, "the database did not answer within 2 s");
            assertThat(caller.get("/health").statusCode()).isEqualTo(200);
            suspend(files, false);
            caller.awaitReady(200, "");
        } finally {
            server.close();
        }
    }

    /**
     * Stops the processes of a server, so that they do not answer and their connections stay, or lets them go on. The
     * first process stops before the list of its children is read and goes on after them, so none begins or ends between.
     */
    private static void suspend(Path files, boolean suspended) throws Exception {
        long server = Long.parseLong(
                Files.readAllLines(files.resolve("postmaster.pid")).getFirst());
        if (suspended) {
            signal("-STOP", List.of(server));
        }
        signal(
                suspended ? "-STOP" : "-CONT",
                ProcessHandle.of(server)
                        .orElseThrow()
                        .descendants()
                        .map(ProcessHandle::pid)
                        .toList());
        if (!suspended) {
            signal("-CONT", List.of(server));
        }
    }

    private static void signal(String name, List<Long> processes) throws Exception {
        var command = new ArrayList<>(List.of("kill", name));
        processes.forEach(each -> command.add(each.toString()));
        assertThat(new ProcessBuilder(command).start().waitFor()).isZero();
    }
}
