package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hub without calls and with default settings sends nothing but what docs/operations.md lists, which is all rarer than this test waits. */
@Timeout(120)
@Tag("heavy")
final class IdleHubTest {
    private static final int SILENCE_SECONDS = 6;
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @TempDir
    private Path directory;

    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private HttpServer server;
    private @Nullable String peer;

    @BeforeEach
    void begin() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void end() {
        server.stop(0);
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Agents at /agents/…, a server of MCP at /mcp, and at other paths the peer. */
    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String path = exchange.getRequestURI().getPath();
            if (path.startsWith("/mcp")) {
                mcp(exchange, body);
            } else if (path.startsWith("/agents/quiet") || path.startsWith("/agents/registered")) {
                requests.add(exchange.getRequestMethod() + " " + path);
                send(exchange, 200, card(path.split("/", -1)[2]).getBytes(UTF_8));
            } else {
                requests.add(exchange.getRequestMethod() + " " + path);
                forward(exchange, body);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private String card(String name) {
        return """
                {"name":"%1$s","description":"Waits","version":"1",
                 "supportedInterfaces":[{"url":"%2$s/agents/%1$s","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
                 "capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
                 "skills":[{"id":"wait","name":"wait","description":"Waits","tags":["t"]}]}""".formatted(name, url());
    }

    private void mcp(HttpExchange exchange, byte[] body) throws IOException {
        if (!exchange.getRequestMethod().equals("POST")) {
            requests.add("mcp " + exchange.getRequestMethod());
            send(exchange, 405, new byte[0]);
            return;
        }
        Map<?, ?> request = Json.read(body, Map.class);
        requests.add("mcp " + request.get("method"));
        if (request.get("id") == null) {
            send(exchange, 202, new byte[0]);
        } else {
            send(exchange, 200, QuietServer.answer(request));
        }
    }

    private void forward(HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(peer + exchange.getRequestURI()))
                .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
        HttpResponse<String> answer = HTTP.send(request.build(), BodyHandlers.ofString());
        answer.headers()
                .firstValue("Content-Type")
                .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
        send(
                exchange,
                answer.statusCode(),
                answer.body().replace(String.valueOf(peer), url()).getBytes(UTF_8));
    }

    private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
        if (!exchange.getResponseHeaders().containsKey("Content-Type")) {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
        }
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    private static String done(String method, String url, String body) throws IOException, InterruptedException {
        HttpResponse<String> answer = HTTP.send(
                HttpRequest.newBuilder(URI.create(url))
                        .header("Content-Type", "application/json")
                        .method(method, BodyPublishers.ofString(body.replace('\'', '"')))
                        .build(),
                BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }

    /** Waits for requests, in any order. */
    private void await(String... expected) throws InterruptedException {
        var missing = new ArrayList<>(List.of(expected));
        while (!missing.isEmpty()) {
            String next = requests.poll(60, TimeUnit.SECONDS);
            assertThat(next).as("one of %s", missing).isNotNull();
            missing.remove(next);
        }
    }

    @Test
    @DisplayName("an idle hub with a route, hosted MCP servers, a registered agent and a peer sends nothing")
    void anIdleHubSendsNothing() throws Exception {
        Path lines = directory.resolve("lines");
        Path servers = directory.resolve("mcp.json");
        List<String> program = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                QuietServer.class.getName(),
                lines.toString());
        Files.write(
                servers,
                Json.write(Map.of(
                        "mcpServers",
                        Map.of(
                                "near",
                                        Map.of(
                                                "command",
                                                program.getFirst(),
                                                "args",
                                                program.subList(1, program.size())),
                                "far", Map.of("url", url() + "/mcp", "protocolVersion", "2025-06-18")))));
        try (RunningHub other = new RunningHub(directory.resolve("b"), Map.of());
                RunningHub hub = new RunningHub(
                        directory.resolve("a"),
                        Map.of(),
                        "--remote",
                        "quiet=" + url() + "/agents/quiet",
                        "--mcp-servers",
                        servers.toString())) {
            peer = other.url();
            done("PUT", hub.url() + "/admin/registry/peers/b", "{'url':'" + url() + "'}");
            done("POST", hub.url() + "/registry/agents", "{'url':'" + url() + "/agents/registered'}");
            done("POST", hub.url() + "/agents/near", call("near"));
            done("POST", hub.url() + "/agents/far", call("far"));
            String registered = "GET /agents/registered/.well-known/agent-card.json";
            await("mcp tools/call", registered, registered); // the registration, and the first probe

            requests.clear();
            long before = Files.size(lines);
            String unexpected = requests.poll(SILENCE_SECONDS, TimeUnit.SECONDS);

            assertThat(unexpected).isNull();
            assertThat(Files.size(lines)).isEqualTo(before).isPositive();
        }
    }

    private static String call(String server) {
        return "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':{'message':{'messageId':'" + server
                + "','role':'ROLE_USER','parts':[{'data':{}}],'metadata':{'skillId':'wait'}}}}";
    }
}
