package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.PostgresqlServer;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley up} whose hub may not use its database any more. */
@Timeout(120)
@Tag("heavy")
class HubSuccessionTest {
    /** The lock of a hub, as operators find it among the locks of their database. */
    private static final String LOCK = "SELECT pg_advisory_lock(727539, hashtext(current_schema()))";

    private static final String TAKE_OVER = "INSERT INTO stream_end SELECT *, 0 FROM stream_newest; DELETE FROM stream";

    @TempDir
    private Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private String database;
    private RunningHub hub;
    private String url;
    private Shell shell;

    @BeforeEach
    void start() throws Exception {
        database = PostgresqlServer.url();
        hub = new RunningHub(directory, Map.of(), "--data", "data", "--database", database, "--drain", "1s");
        url = hub.url();
        shell = new Shell(directory);
    }

    @AfterEach
    void stop() {
        hub.close();
        threads.shutdownNow();
        http.close();
    }

    private void inDatabase(String sql) throws SQLException {
        try (Connection connection = PostgresqlServer.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String ready() throws Exception {
        try {
            HttpResponse<String> answer =
                    http.send(HttpRequest.newBuilder(URI.create(url + "/ready")).build(), BodyHandlers.ofString());
            return answer.statusCode() + " " + answer.body();
        } catch (IOException moment) { // in which the next hub opens the port
            return moment.toString();
        }
    }

    private String notes() {
        return hub.err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aNewHubBeginsByItselfWithTheSameTasksAtTheSamePort() throws Exception {
        String sent = shell.run("send", "-a", url + "/agents/echo", "hello").out();
        String task = sent.lines().findFirst().orElseThrow().replace("Task-ID: ", "");

        inDatabase(TAKE_OVER);
        ready(); // which writes

        Eventually.asserted("a new hub", () -> assertThat(notes()).contains("hub " + url + " began anew: "));
        Eventually.asserted("the hub is ready", () -> assertThat(ready()).startsWith("200"));
        assertThat(shell.run("task", "get", "-a", url + "/agents/echo", task).out())
                .contains("TASK_STATE_COMPLETED");
        assertThat(shell.run("send", "-a", url + "/agents/echo", "hello").status())
                .isZero();
        inDatabase(TAKE_OVER); // and once more
        Eventually.asserted("it began anew twice", () -> {
            ready();
            assertThat(notes().split(" began anew: ", -1)).hasSize(3);
        });
        Eventually.asserted("the hub is ready", () -> assertThat(ready()).startsWith("200"));
    }

    @Test
    void itWaitsWhileAnotherHubHasTheDatabaseAndSaysSoOnce() throws Exception {
        try (Connection other = PostgresqlServer.connect(database);
                Statement statement = other.createStatement()) {
            Future<Boolean> locked = threads.submit(() -> statement.execute(LOCK)); // next after the hub
            inDatabase(TAKE_OVER);
            ready(); // which writes
            assertThat(locked.get(30, TimeUnit.SECONDS)).isTrue();

            Eventually.asserted("the reason", () -> assertThat(notes()).contains("in use by another hub"));
            assertThat(ready()).startsWith("503").contains("reason");
            assertThat(shell.run("send", "-a", url + "/agents/echo", "hello").err())
                    .contains("status 503");
        }

        Eventually.asserted("a new hub", () -> assertThat(notes()).contains("hub " + url + " began anew: "));
        Eventually.asserted("the hub is ready", () -> assertThat(ready()).startsWith("200"));
        assertThat(notes().split("in use by another hub", -1)).hasSize(2);
    }

    @Test
    void itStopsWhileItWaitsForTheDatabase() throws Exception {
        try (Connection other = PostgresqlServer.connect(database);
                Statement statement = other.createStatement()) {
            Future<Boolean> locked = threads.submit(() -> statement.execute(LOCK));
            inDatabase(TAKE_OVER);
            ready();
            assertThat(locked.get(30, TimeUnit.SECONDS)).isTrue();
            Eventually.asserted("the reason", () -> assertThat(notes()).contains("in use by another hub"));

            assertThat(hub.stop()).isZero();

            assertThat(hub.command.get(30, TimeUnit.SECONDS)).isZero();
            assertThat(notes()).contains("stopped").doesNotContain("began anew");
        }
    }
}
