package dev.parley.mcp.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.hub.Hub;
import dev.parley.mcp.client.RawServer;
import dev.parley.mcp.wire.RawJson;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls to MCP servers that are known to be unreachable. */
@Timeout(120)
class UnreachableServersTest {
    private static final Duration LIMIT = Duration.ofSeconds(50);

    @TempDir
    static Path directory;

    private static Hub hub;
    private static RawServer failing;
    private static RawServer returning;

    @BeforeAll
    static void start() throws IOException {
        failing = new RawServer(false);
        returning = new RawServer(false);
        for (RawServer each : List.of(failing, returning)) {
            each.fail(request -> RawServer.whole(500, "text/plain", "out of order".getBytes(UTF_8)));
        }
        Map<String, @Nullable Object> servers = new RawJson()
                .with(
                        "refused",
                        new RawJson().with("url", "http://127.0.0.1:1/mcp").with("timeout", LIMIT.toSeconds()))
                .with(
                        "missing",
                        new RawJson().with("command", "/nowhere/program").with("timeout", LIMIT.toSeconds()))
                .with(
                        "ending",
                        new RawJson()
                                .with("command", "sh")
                                .with("args", List.of("-c", "exit 3"))
                                .with("timeout", LIMIT.toSeconds()))
                .with(
                        "failing",
                        new RawJson().with("url", failing.url().toString()).with("timeout", LIMIT.toSeconds()))
                .with(
                        "returning",
                        new RawJson().with("url", returning.url().toString()).with("timeout", LIMIT.toSeconds()));
        Path file = directory.resolve("servers.json");
        Files.write(file, JsonText.write(Codecs.STRUCT, new RawJson().with("mcpServers", servers)));
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("mcp-servers", file.toString())
                .start();
    }

    @AfterAll
    static void stop() {
        hub.close();
        failing.close();
        returning.close();
    }

    private static Task call(String server, AgentClientBuilder client) {
        var message = Message.user(Part.data(Map.of("text", "hello")));
        var send = new SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of("skillId", "echo"));
        return (Task) client.connect(hub.agentUrl(server)).call(send, CallContext.anonymous());
    }

    @ParameterizedTest
    @CsvSource({"refused, 127.0.0.1", "missing, /nowhere/program", "ending, status 3", "failing, out of order"})
    @DisplayName("C13: a call to a server that is known to be unreachable fails at once with the last problem")
    void knownProblems(String server, String problem) {
        long begun = System.nanoTime();

        assertThatThrownBy(() -> call(server, AgentClient.builder().retries(0)))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE))
                .hasMessageContaining("MCP server \"" + server + "\"")
                .hasMessageContaining(problem);
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(LIMIT.dividedBy(3));
    }

    @Test
    @DisplayName("C13: a server that can be reached again answers soon, as its calls want it")
    void returns() {
        returning.fail(request -> null);

        Eventually.within(LIMIT, "the server answers", () -> {
            try {
                return call("returning", AgentClient.builder()).state() == TaskState.COMPLETED;
            } catch (A2AException unreachable) {
                assertThat(unreachable.error()).isEqualTo(A2AError.UNAVAILABLE);
                return false;
            }
        });
    }
}
