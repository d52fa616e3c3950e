package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Receiver;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Answers of remote agents in the database of a gateway that encrypts tasks. */
@Timeout(90)
final class AnswersAtRestTest {
    private static final String CANARY = "canary-0b5d71";

    @TempDir
    Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Semaphore steps = new Semaphore(0);
    private final Receiver receiver = ExtensionKit.receiver();
    private String agent = "";

    @BeforeEach
    void start() throws Exception {
        open.add(receiver);
        Hub remote = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .webhookAllow(List.of("127.0.0.1"))
                .agents(Agent.named("worker", "Works").handle((request, reply) -> {
                    if (request.text().equals("message")) {
                        reply.message(CANARY);
                        return;
                    }
                    for (int step = 1; step <= 2; step++) {
                        steps.acquire();
                        reply.artifact(Artifact.of("step-" + step, Part.text(CANARY)));
                    }
                    reply.complete();
                }))
                .start();
        open.add(remote);
        agent = remote.agentUrl("worker");
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable one : open.reversed()) {
            one.close();
        }
    }

    private Hub gateway(String data, String database, int port) {
        HubBuilder builder = Hub.builder()
                .data(directory.resolve(data))
                .port(port)
                .drain(Duration.ofSeconds(30))
                .set("encrypt-tasks", "true")
                .webhookAllow(List.of("127.0.0.1"));
        Hub hub = (database.isEmpty() ? builder : builder.database(database)).start();
        open.add(hub);
        return hub;
    }

    private static SendResult send(Hub gateway, String version, String text, @Nullable PushConfig hook) {
        try (AgentClient client = AgentClient.builder().version(version).connect(gateway.agentUrl("worker"))) {
            var configuration = new SendConfiguration(List.of(), hook, null, hook != null);
            return client.call(
                    new Operation.SendMessage(null, Message.user(Part.text(text)), configuration, Map.of()),
                    CallContext.anonymous());
        }
    }

    /** All that the database holds. */
    private String stored(String database) throws Exception {
        if (!database.isEmpty()) {
            return PostgresqlServer.rows(database);
        }
        var all = new StringBuilder();
        try (var files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                all.append(Files.readString(file, ISO_8859_1));
            }
        }
        return all.toString();
    }

    private int events(String database) throws SQLException {
        try (Connection connection = database.isEmpty()
                        ? DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("a/parley.db"))
                        : PostgresqlServer.connect(database);
                ResultSet row = connection.createStatement().executeQuery("SELECT count(*) FROM gateway_relay_event")) {
            return row.next() ? row.getInt(1) : -1;
        }
    }

    /** Sends a task with a webhook through one gateway, and ends it through another one on the same database. */
    private void relayed(String second, String database) throws Exception {
        Hub gateway = gateway("a", database, 0);
        int port = URI.create(gateway.url()).getPort();
        Admin.of(gateway).add("worker", agent, Map.of());
        var config = new PushConfig(null, "mine", null, receiver.url(), null, null);
        String id = ((Task) send(gateway, "1.0", "go", config)).id();
        Task answer = (Task) send(gateway, "0.1", "message", null);
        assertThat(String.valueOf(answer.status().message())).contains(CANARY);
        steps.release();
        assertThat(receiver.until("step-1")).contains(CANARY, id);
        gateway.close();

        assertThat(stored(database)).contains("worker").doesNotContain(CANARY);
        assertThat(events(database)).isPositive();

        copySecrets(second);
        gateway = gateway(second, database, port);
        steps.release();
        assertThat(receiver.until("COMPLETED")).contains(CANARY, id).containsOnlyOnce("\"artifactId\":\"step-2\"");
        try (AgentClient client = AgentClient.builder().version("0.1").connect(gateway.agentUrl("worker"))) {
            assertThat(String.valueOf(client.task(answer.id()).status().message()))
                    .contains(CANARY);
        }
        gateway.close();

        assertThat(stored(database)).contains("worker").doesNotContain(CANARY);
        assertThat(events(database)).as("events of the ended task").isZero();
        assertThat(receiver.left()).isEmpty();
    }

    private void copySecrets(String second) throws IOException {
        Path to = directory.resolve(second);
        if (Files.exists(to)) {
            return;
        }
        Files.createDirectories(to);
        for (String secret : List.of("webhook.master", "encryption.key", "token.secret")) {
            Path from = directory.resolve("a").resolve(secret);
            if (Files.exists(from)) {
                Files.copy(from, to.resolve(secret), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }

    @Test
    @DisplayName("GEM25 files of SQLite have no text of a relayed event or kept answer, and no event of an ended task")
    void sqlite() throws Exception {
        relayed("a", "");
    }

    @Test
    @DisplayName("GEM25 rows of PostgreSQL have no such text, and another hub on the database delivers each event once")
    void postgresql() throws Exception {
        relayed("b", PostgresqlServer.url());
    }
}
