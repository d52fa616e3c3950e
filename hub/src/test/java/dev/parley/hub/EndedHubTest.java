package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.GetTaskRequest;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.InUseException;
import dev.parley.testkit.Eventually;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hub that may not use its database any more, and the hub that replaces it. */
@Timeout(120)
@Tag("heavy")
final class EndedHubTest {
    private static final String TAKE_OVER = "INSERT INTO stream_end SELECT *, 0 FROM stream_newest; DELETE FROM stream";

    /** Removes the newest transactions, as far as the start of a hub and its audit see them. */
    private static final String GO_BACK =
            "DELETE FROM stream_group WHERE group_no > (SELECT max(group_no) - 3 FROM stream_group);"
                    + " DELETE FROM audit WHERE row_no > (SELECT row_no FROM audit_end);"
                    + " DELETE FROM audit_log WHERE row_no > (SELECT row_no FROM audit_end);"
                    + " DELETE FROM audit_part WHERE row_no > (SELECT row_no FROM audit_end)";

    private static final String CUT =
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory'"
                    + " AND objid = CAST(CAST(hashtext(current_schema()) AS BIGINT) & 4294967295 AS OID)";

    @TempDir
    private Path data;

    @TempDir
    private Path others;

    private final Semaphore begun = new Semaphore(0);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final CompletableFuture<Ending> told = new CompletableFuture<>();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpClient http = HttpClient.newHttpClient();
    private String database;
    private Hub hub;
    private Outsider caller;
    private String task;

    private HubBuilder hub(Path directory) {
        Agent echo = Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));
        Agent endless = Agent.named("endless", "Never ends").handle((request, reply) -> {
            reply.working("busy");
            begun.release();
            try {
                new CountDownLatch(1).await();
            } finally {
                interrupted.countDown();
            }
        });
        return Hub.builder()
                .data(directory)
                .database(database)
                .port(0)
                .webhookAllow(List.of("127.0.0.1"))
                .agents(echo, endless);
    }

    @BeforeEach
    void start() throws Exception {
        database = PostgresqlServer.url();
        hub = hub(data).start();
        hub.onEnding(told::complete);
        caller = new Outsider(hub.url());
        task = send("first").at("task", "id").text();
    }

    @AfterEach
    void close() {
        hub.close();
        threads.shutdownNow();
        http.close();
    }

    private Shown send(String id) throws Exception {
        return caller.result("/agents/echo", "SendMessage", message(id), "A2A-Version", "1.0");
    }

    private static String message(String id) {
        return "{'message':{'messageId':'" + id + "','role':'ROLE_USER','parts':[{'text':'hi'}]}}";
    }

    private HttpRequest post(String agent, String method, String params) {
        String body = "{'jsonrpc':'2.0','id':1,'method':'" + method + "','params':" + params + "}";
        return HttpRequest.newBuilder(URI.create(hub.agentUrl(agent)))
                .header("Content-Type", "application/json")
                .header("A2A-Version", "1.0")
                .POST(BodyPublishers.ofString(body.replace('\'', '"')))
                .build();
    }

    private void inDatabase(String sql) throws SQLException {
        try (Connection connection = PostgresqlServer.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Does what a hub does that takes the database over, and waits until this one knows it. */
    private void takeOver() throws Exception {
        inDatabase(TAKE_OVER);
        caller.awaitReady(503, "taken"); // which writes
        assertThat(told.get(20, TimeUnit.SECONDS).cause()).isEqualTo(Ending.Cause.TAKEN_OVER);
    }

    @Test
    void allCallsAreRefusedAndAllWorkEnds() throws Exception {
        Future<HttpResponse<String>> blocked = threads.submit(
                () -> http.send(post("endless", "SendMessage", message("blocked")), BodyHandlers.ofString()));
        HttpResponse<InputStream> stream =
                http.send(post("endless", "SendStreamingMessage", message("stream")), BodyHandlers.ofInputStream());
        begun.acquire(2);

        takeOver();

        assertThat(blocked.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
        assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
        try (InputStream events = stream.body()) {
            assertThat(new String(events.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("UNAVAILABLE");
        }
    }

    @Test
    void readsAreRefusedInEachBinding() throws Exception {
        takeOver();

        assertThat(caller.get("/health").statusCode()).isEqualTo(200);
        for (String path : List.of(
                "/",
                "/agents",
                "/agents/echo/.well-known/agent-card.json",
                "/agents/echo/tasks/" + task,
                "/agents/echo/v1/tasks/" + task,
                "/metrics",
                "/admin/hubs",
                "/openapi.json")) {
            HttpResponse<String> refused = caller.get(path);
            assertThat(refused.statusCode()).as(path).isEqualTo(503);
            assertThat(refused.headers().firstValue("Retry-After")).as(path).isPresent();
        }
        for (String agent : List.of("echo", "endless")) {
            HttpResponse<String> refused =
                    http.send(post(agent, "GetTask", "{'id':'" + task + "'}"), BodyHandlers.ofString());
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.body()).contains("\"jsonrpc\"").doesNotContain("postgres");
        }
        URI url = URI.create(hub.url());
        ManagedChannel channel = OkHttpChannelBuilder.forAddress(
                        url.getHost(), url.getPort(), InsecureChannelCredentials.create())
                .build();
        try {
            var get = GetTaskRequest.newBuilder().setId(task).build();
            assertThatThrownBy(() -> A2AServiceGrpc.newBlockingStub(channel).getTask(get))
                    .isInstanceOfSatisfying(
                            StatusRuntimeException.class,
                            refused -> assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    void webhooksAreNotCalledAnyMore() throws Exception {
        try (var hook = new Hook()) {
            String config = ",'configuration':{'returnImmediately':true,'taskPushNotificationConfig':{'url':'"
                    + hook.url() + "'}}}";
            String watched = message("watched");
            caller.result(
                    "/agents/endless",
                    "SendMessage",
                    watched.substring(0, watched.length() - 1) + config,
                    "A2A-Version",
                    "1.0");
            hook.next();
            begun.acquire();

            takeOver();

            int before = hook.calls();
            interrupted.await();
            assertThat(hook.calls()).isEqualTo(before);
        }
    }

    @Test
    void aHubThatReplacesItServesItsTasksAtItsPort() throws Exception {
        takeOver();

        try (Hub next = hub(data).replaces(hub).start()) {
            assertThat(next.port()).isEqualTo(hub.port());
            caller.awaitReady(200, "");
            Shown again = caller.result("/agents/echo", "GetTask", "{'id':'" + task + "'}", "A2A-Version", "1.0");
            assertThat(again.at("status", "state").text()).isEqualTo("TASK_STATE_COMPLETED");
            assertThat(send("first").at("task", "id").text()).isEqualTo(task);
            assertThat(caller.get("/metrics").body()).contains("parley_lost_groups_total 0.0");
            assertThat(next.ending()).isEmpty();
        }
    }

    @Test
    void itAnswersUntilTheDatabaseCanBeOpened() throws Exception {
        takeOver();
        LoadedHub.copySecrets(data, others);

        try (Hub other = hub(others).start()) {
            assertThat(other.port()).isNotEqualTo(hub.port());
            HubBuilder builder = hub(data).replaces(hub);
            assertThatThrownBy(builder::start).isInstanceOf(InUseException.class);
            assertThat(caller.get("/health").statusCode()).isEqualTo(200);
            caller.awaitReady(503, "taken");
        }

        try (Hub next = hub(data).replaces(hub).start()) {
            assertThat(next.port()).isEqualTo(hub.port());
            caller.awaitReady(200, "");
        }
    }

    @Test
    void theNextHubCountsAndNotesWhatTheDatabaseHasLost() throws Exception {
        send("second");
        inDatabase(GO_BACK);
        inDatabase(CUT);
        caller.awaitReady(503, "earlier state"); // which writes
        Ending ending = told.get(20, TimeUnit.SECONDS);
        assertThat(ending.cause()).isEqualTo(Ending.Cause.WENT_BACK);
        assertThat(ending.lostGroups()).isPositive();

        try (Hub next = hub(data).replaces(hub).start()) {
            caller.awaitReady(200, "");
            assertThat(caller.get("/metrics").body())
                    .contains("parley_lost_groups_total " + ending.lostGroups() + ".0");
            Eventually.asserted(
                    "the audit has it",
                    () -> assertThat(caller.get("/admin/audit?action=database.went_back")
                                    .body())
                            .contains("\"database.went_back\"")
                            .contains("\"lostGroups\":" + ending.lostGroups()));
            assertThat(next.ending()).isEmpty();
        }
    }

    @Test
    void aHubThatRunsIsNotReplaced() {
        assertThatThrownBy(() -> hub(data).replaces(hub))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected: one that has ended");
    }

    @Test
    void itsPortClosesWithinSeconds() throws Exception {
        takeOver();

        long start = System.nanoTime();
        hub.close();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
        assertThatThrownBy(() -> caller.get("/health")).isInstanceOf(IOException.class);
    }
}
