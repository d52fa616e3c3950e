package dev.parley.mesh.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Outcome;
import dev.parley.mesh.MeshContent.Response;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.mesh.RetryPolicy;
import dev.parley.protocol.retry.Backoff.Growth;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The client against agents of A2A that know nothing of the mesh, without a hub between. */
@Timeout(60)
final class PlainAgentTest {
    private static final String CARD = """
            {"name":"plain","description":"Plain","version":"1",
             "supportedInterfaces":[{"url":"http://localhost:PORT/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
             "capabilities":{"streaming":STREAMS},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
             "skills":[{"id":"research","name":"Research","description":"Finds out","tags":["facts"]}]}""";

    private final List<String> methods = new CopyOnWriteArrayList<>();
    private final List<Map<?, ?>> sent = new CopyOnWriteArrayList<>();
    /** Results of SendMessage and GetTask, the last of them for ever. */
    private final ConcurrentLinkedDeque<String> results = new ConcurrentLinkedDeque<>();

    private boolean streams;
    /** Answer to messages of the mesh: status, media type and body. */
    private String[] toMesh = {"404", "text/html", "<h1>Not Found</h1>"};

    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (exchange.getRequestMethod().equals("GET")) {
                write(
                        exchange,
                        200,
                        "application/json",
                        CARD.replace("PORT", String.valueOf(server.getAddress().getPort()))
                                .replace("STREAMS", String.valueOf(streams)));
                return;
            }
            Map<?, ?> request = Json.read(body, Map.class);
            if (!request.containsKey("jsonrpc")) {
                methods.add("mesh");
                write(exchange, Integer.parseInt(toMesh[0]), toMesh[1], toMesh[2]);
                return;
            }
            String method = String.valueOf(request.get("method"));
            methods.add(method);
            String result = switch (method) {
                case "SubscribeToTask" -> "\"error\":{\"code\":-32004,\"message\":\"no streams\"}";
                case "CancelTask" -> "\"result\":" + task("CANCELED", "");
                default -> {
                    sent.add((Map<?, ?>) requireNonNull(request.get("params")));
                    yield results.size() > 1 ? results.removeFirst() : results.getFirst();
                }
            };
            write(
                    exchange,
                    200,
                    "application/json",
                    "{\"jsonrpc\":\"2.0\",\"id\":" + new String(Json.write(request.get("id")), UTF_8) + "," + result
                            + "}");
        }
    }

    private static void write(HttpExchange exchange, int status, String type, String text) throws IOException {
        byte[] bytes = text.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private static String task(String state, String text) {
        return "{\"id\":\"t-1\",\"contextId\":\"c-1\",\"status\":{\"state\":\"TASK_STATE_" + state
                + "\",\"timestamp\":\"2026-01-01T00:00:00Z\"},\"artifacts\":["
                + (text.isEmpty() ? "" : "{\"artifactId\":\"a\",\"parts\":[{\"text\":\"" + text + "\"}]}") + "]}";
    }

    private OneClient client() {
        return OneClient.connect(
                OneIdentity.of("planner", ""),
                AgentClient.builder()
                        .retries(0)
                        .connect("http://localhost:" + server.getAddress().getPort()));
    }

    @ParameterizedTest
    @DisplayName(
            "M2 ONE22 a delegation straight to an agent outside of the mesh is a task of A2A, which is read until it ends")
    @CsvSource({
        "404, text/html, <h1>Not Found</h1>, false",
        "405, text/plain, '', true",
        "200, application/json, '{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"x\"}}', false",
        "400, application/json, '{\"detail\":\"no\"}', true",
        "415, application/json, '{}', false"
    })
    void delegated(String status, String type, String body, boolean streaming) throws Exception {
        toMesh = new String[] {status, type, body};
        streams = streaming;
        results.add("\"result\":{\"task\":" + task("SUBMITTED", "") + "}");
        results.add("\"result\":" + task("WORKING", ""));
        results.add("\"result\":" + task("COMPLETED", "about tides"));
        try (OneClient plain = client();
                Delegated delegated = plain.send(
                        TaskDelegation.of("facts").parameter("topic", "tides").correlationId("c-7"))) {
            assertThat(delegated.taskId()).isEqualTo("t-1");
            assertThat(delegated.acceptance().capabilities()).containsExactly("research");
            Result result = delegated.result().get(30, TimeUnit.SECONDS);
            assertThat(result).isEqualTo(new Result("t-1", Outcome.COMPLETED, "about tides", null));
            var updates = new ArrayList<MeshContent>();
            for (List<MeshContent> next = delegated.updates().next(Duration.ofSeconds(1));
                    next != null;
                    next = delegated.updates().next(Duration.ofSeconds(1))) {
                updates.addAll(next);
            }
            assertThat(updates).first().isInstanceOf(Status.class);
            assertThat(updates).last().isEqualTo(result);

            results.clear();
            results.add(
                    "\"result\":{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"hi\"}]}}");
            assertThat(plain.query("who?", Map.of())).isEqualTo(new Response("hi", null, null));
        }
        assertThat(methods.stream().filter("mesh"::equals)).hasSize(1);
        assertThat(sent.getFirst().toString())
                .contains("skillId=research", "text=tides", "returnImmediately=true", "correlationId=c-7");
    }

    @Test
    @DisplayName("M2 a failed, a refused and a late task, and what only agents of the mesh can do, have their reasons")
    void failures() throws Exception {
        results.add("\"result\":{\"task\":" + task("FAILED", "") + "}");
        try (OneClient plain = client()) {
            Result failed = plain.send(TaskDelegation.of("research")).result().get(30, TimeUnit.SECONDS);
            assertThat(failed.status()).isEqualTo(Outcome.FAILED);

            results.clear();
            results.add("\"error\":{\"code\":-32602,\"message\":\"topic: missing\"}");
            assertThatThrownBy(() ->
                            plain.send(TaskDelegation.of("research").retryPolicy(new RetryPolicy(0, Growth.LINEAR))))
                    .isInstanceOf(OneException.class)
                    .hasMessageContaining("topic: missing");

            results.clear();
            results.add("\"result\":{\"task\":" + task("WORKING", "") + "}");
            results.add("\"result\":" + task("WORKING", ""));
            Result late = plain.send(TaskDelegation.of("research").timeout(Duration.ofMillis(300)))
                    .result()
                    .get(30, TimeUnit.SECONDS);
            assertThat(requireNonNull(late.error()).code()).isEqualTo("timeout");
            assertThat(methods).contains("CancelTask");

            assertThatThrownBy(() -> plain.send(TaskDelegation.of("research").callback("https://a.example/cb")))
                    .isInstanceOf(OneException.class)
                    .hasMessageContaining("no callbacks");
            assertThatThrownBy(() -> plain.send(TaskDelegation.of("paint"))).hasMessageContaining("research");
        }
    }
}
