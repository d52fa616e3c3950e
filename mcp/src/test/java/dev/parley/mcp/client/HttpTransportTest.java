package dev.parley.mcp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.mcp.McpProvider.Invocation;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.RawJson;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server over HTTP that ends connections instead of answering. */
@Timeout(60)
class HttpTransportTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Queue<String> requests = new ConcurrentLinkedQueue<>();
    /** Methods whose next request gets no answer. */
    private final Set<String> unanswered = ConcurrentHashMap.newKeySet();

    private HttpServer server;
    private HttpClient http;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/mcp", this::answer);
        server.start();
        http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    @AfterEach
    void stop() {
        http.shutdownNow();
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, @Nullable Object> message =
                    JsonText.read(exchange.getRequestBody().readAllBytes(), Codecs.STRUCT);
            String method = String.valueOf(message.get("method"));
            requests.add(method);
            if (unanswered.remove(method)) {
                return; // ends the connection
            }
            Map<String, @Nullable Object> result = method.equals("server/discover")
                    ? new RawJson()
                            .with("supportedVersions", List.of("2026-07-28"))
                            .with("capabilities", Map.of("tools", Map.of()))
                            .with("serverInfo", Map.of("name", "ending", "version", "1"))
                            .with("ttlMs", 0)
                            .with("cacheScope", "private")
                    : new RawJson()
                            .with("resultType", "complete")
                            .with("tools", List.of(Map.of("name", "add", "inputSchema", Map.of("type", "object"))));
            byte[] body = JsonText.write(
                    Codecs.STRUCT,
                    new RawJson()
                            .with("jsonrpc", "2.0")
                            .with("id", message.get("id"))
                            .with("result", result));
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private McpClient connected() throws InterruptedException {
        URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/mcp");
        return McpClient.connect(
                () -> new HttpTransport(url, http, Map.of(), McpCredentials.NONE), McpClient.Limits.DEFAULT, null);
    }

    @Test
    void aRequestWithoutEffectsWhoseConnectionEndsIsSentAgain() throws InterruptedException {
        try (McpClient client = connected()) {
            requests.clear();
            unanswered.add("tools/list");

            assertThat(client.tools().tools())
                    .singleElement()
                    .satisfies(tool -> assertThat(tool.name()).isEqualTo("add"));
            assertThat(requests).containsExactly("tools/list", "tools/list");
        }
    }

    @Test
    void aCallOfAToolWhoseConnectionEndsIsNotSentAgain() throws InterruptedException {
        try (McpClient client = connected()) {
            requests.clear();
            unanswered.add("tools/call");
            var call = new Invocation("add", Map.of(), Map.of(), null, Map.of());

            assertThatThrownBy(() -> client.call(call, LIMIT, Progress.NONE))
                    .asInstanceOf(InstanceOfAssertFactories.type(ServerFailure.class))
                    .satisfies(failure -> assertThat(failure.kind()).isEqualTo(Kind.CONNECTION));
            assertThat(requests).containsExactly("tools/call");
        }
    }
}
