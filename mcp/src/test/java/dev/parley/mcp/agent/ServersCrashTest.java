package dev.parley.mcp.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.mcp.client.ScriptedServer;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills a hub in the middle of tasks whose tools are those of MCP servers. */
@Timeout(180)
@Tag("heavy")
final class ServersCrashTest {
    private static final SendConfiguration AT_ONCE = new SendConfiguration(List.of(), null, null, true);

    @TempDir
    private Path directory;

    /** The task of the server over HTTP ends only after the hub was killed. */
    private volatile boolean isDone;

    private final CountDownLatch followed = new CountDownLatch(1);
    private final CountDownLatch called = new CountDownLatch(1);

    @Test
    @DisplayName(
            "after kill -9 a task of a server goes on, a call without a task fails, and a question of the older era fails")
    void killed() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            server.setExecutor(threads);
            server.createContext("/mcp", this::answer);
            server.start();
            try {
                killed(file(server.getAddress().getPort()));
            } finally {
                threads.shutdownNow(); // ends the call that has no answer
            }
        } finally {
            server.stop(0);
        }
    }

    private void killed(Path file) throws Exception {
        String job;
        String plain;
        Task question;
        try (var hub = new Child(directory.resolve("data"), file)) {
            job = hub.call("remote", "job", AT_ONCE).id();
            plain = hub.call("remote", "silent", AT_ONCE).id();
            question = hub.call("legacy", "ask", SendConfiguration.DEFAULTS);
            assertThat(question.state()).isEqualTo(TaskState.INPUT_REQUIRED);
            assertThat(followed.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(called.await(60, TimeUnit.SECONDS)).isTrue();
        }
        isDone = true;
        try (var hub = new Child(directory.resolve("data"), file)) {
            Task continued = hub.end("remote", job);
            Task lost = hub.end("remote", plain);
            Message answer = Message.user(Part.data(Map.of("colour", "red"))).in(question.contextId(), question.id());
            Task answered = hub.send("legacy", answer, SendConfiguration.DEFAULTS, Map.of());

            assertThat(continued.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(continued.artifacts().toString()).contains("the job is done");
            assertThat(lost.state()).isEqualTo(TaskState.FAILED);
            assertThat(said(lost)).contains("the hub has stopped during the call of the tool, which may have run");
            assertThat(answered.state()).isEqualTo(TaskState.FAILED);
            assertThat(said(answered)).contains("does not wait for an answer any more");
        }
    }

    private static String said(Task task) {
        Message message = task.status().message();
        return message == null ? "" : message.text();
    }

    private Path file(int port) throws IOException {
        List<String> command = ScriptedServer.command("legacy");
        Path file = directory.resolve("servers.json");
        return Files.write(
                file,
                Json.write(Map.of(
                        "mcpServers",
                        Map.of(
                                "remote",
                                Map.of("url", "http://127.0.0.1:" + port + "/mcp"),
                                "legacy",
                                Map.of("command", command.getFirst(), "args", command.subList(1, command.size()))))));
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, @Nullable Object> request =
                    Trees.map(Json.read(exchange.getRequestBody().readAllBytes(), Map.class));
            Map<String, @Nullable Object> params = Trees.map(request, "params");
            Object result = switch (String.valueOf(request.get("method"))) {
                case "server/discover" ->
                    Map.of("supportedVersions", List.of("2026-07-28"), "capabilities", Map.of("tools", Map.of()));
                case "tools/list" -> Map.of("tools", List.of(tool("job"), tool("silent")));
                case "tasks/get" -> {
                    followed.countDown();
                    yield task("complete");
                }
                default -> {
                    if ("silent".equals(params.get("name"))) {
                        called.countDown();
                        awaitEnd();
                    }
                    yield task("task");
                }
            };
            byte[] body = Json.write(new RawJson()
                    .with("jsonrpc", "2.0")
                    .with("id", request.get("id"))
                    .with("result", result));
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** An interruption by the end of the test is the only one. */
    private static void awaitEnd() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    private static Map<String, Object> tool(String name) {
        return Map.of("name", name, "description", name, "inputSchema", Map.of("type", "object"));
    }

    private Map<String, @Nullable Object> task(String type) {
        return new RawJson()
                .with("resultType", type)
                .with("taskId", "job-1")
                .with("status", isDone ? "completed" : "working")
                .with("pollIntervalMs", 50)
                .with(
                        "result",
                        isDone ? Map.of("content", List.of(Map.of("type", "text", "text", "the job is done"))) : null);
    }

    /** The hub, which is killed when this is closed. */
    private static final class Child implements AutoCloseable {
        private final Process process;
        private final String url;

        Child(Path data, Path servers) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            CrashedServersHub.class.getName(),
                            data.toString(),
                            servers.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = lines.readLine();
            assertThat(line).as("output of the hub").startsWith("ready ");
            url = line.substring("ready ".length());
        }

        Task call(String agent, String tool, SendConfiguration configuration) {
            return send(agent, Message.user(Part.data(Map.of())), configuration, Map.of("skillId", tool));
        }

        Task send(
                String agent,
                Message message,
                SendConfiguration configuration,
                Map<String, @Nullable Object> metadata) {
            try (AgentClient client = AgentClient.connect(url + "/agents/" + agent)) {
                return (Task)
                        client.call(new SendMessage(null, message, configuration, metadata), CallContext.anonymous());
            }
        }

        /** The task when it has ended. */
        Task end(String agent, String id) {
            try (AgentClient client = AgentClient.connect(url + "/agents/" + agent)) {
                Task task = client.task(id);
                if (!task.state().isTerminal()) {
                    try (var stream = client.subscribe(id)) {
                        while (stream.hasNext()) {
                            assertThat(stream.next()).isNotNull();
                        }
                    }
                }
                return client.task(id);
            }
        }

        @Override
        public void close() throws InterruptedException {
            process.destroyForcibly();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }
}
