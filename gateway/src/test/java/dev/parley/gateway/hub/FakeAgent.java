package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/** An agent of 1.0 over JSON-RPC that answers whatever a test wants. */
final class FakeAgent implements AutoCloseable {
    private final HttpServer server;
    volatile String card;
    volatile Function<Map<?, ?>, String> results = params -> "{}";
    /** Run before the card is shown. */
    volatile Runnable showing = () -> {};

    volatile Consumer<Headers> heads = head -> {};
    volatile String redirect = "";
    /** Requests that are yet to be answered by 503. */
    final AtomicInteger refusals = new AtomicInteger();

    FakeAgent() throws IOException {
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        this.card = card("true", "[]", "talk");
        server.createContext("/", this::answer);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** A card with some security requirements and one skill, whose interface is at another host. */
    String card(String streaming, String requirements, String skill) {
        return """
                {"name":"fake","description":"Calls http://127.0.0.1:%1$d inside","version":"1",
                 "supportedInterfaces":[{"url":"http://inner.example:1/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
                 "capabilities":{"streaming":%2$s,"extendedAgentCard":true},
                 "securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Inner-Key"}}},
                 "securityRequirements":%3$s,
                 "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
                 "skills":[{"id":"%4$s","name":"%4$s","description":"does it","tags":[]}]}""".formatted(server.getAddress().getPort(), streaming, requirements, skill);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                exchange.sendResponseHeaders(503, -1);
                return;
            }
            if (!redirect.isEmpty()) {
                exchange.getResponseHeaders().set("Location", redirect);
                exchange.sendResponseHeaders(307, -1);
                return;
            }
            byte[] answer;
            if (exchange.getRequestMethod().equals("GET")) {
                showing.run();
                answer = card.getBytes(UTF_8);
            } else {
                heads.accept(exchange.getRequestHeaders());
                Map<?, ?> request = Json.read(body, Map.class);
                answer = ("{\"jsonrpc\":\"2.0\",\"id\":" + new String(Json.write(request.get("id")), UTF_8) + ","
                                + results.apply(request) + "}")
                        .getBytes(UTF_8);
            }
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.getResponseHeaders().set("Connection", "close"); // each call dials
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    /** A result that is a task. */
    static String task(String id, String contextId, String text) {
        return "\"result\":{\"task\":" + bare(id, contextId, text) + "}";
    }

    static String bare(String id, String contextId, String text) {
        var status = new LinkedHashMap<String, Object>();
        status.put("state", "TASK_STATE_WORKING");
        status.put("timestamp", "2026-01-01T00:00:00Z");
        return new String(
                Json.write(Map.of(
                        "id", id,
                        "contextId", contextId,
                        "status", status,
                        "artifacts", List.of(Map.of("artifactId", "a", "parts", List.of(Map.of("text", text)))))),
                UTF_8);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
