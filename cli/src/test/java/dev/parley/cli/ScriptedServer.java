package dev.parley.cli;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An agent that answers JSON-RPC methods with what a test laid ready, and remembers what it was asked. */
final class ScriptedServer implements AutoCloseable {
    /** A request as it came. */
    record Asked(String method, Map<?, ?> params, Headers headers, String query) {}

    /** Events, and then either the end of the stream or (if {@code cut}) that of the connection, or (open) neither. */
    private record Reply(@Nullable String result, @Nullable String error, List<String> events, End end, int status) {}

    /** How a stream ends. */
    enum End {
        CLOSED,
        CUT,
        STAYS_OPEN
    }

    private final HttpServer http;
    private final Map<String, Deque<Reply>> replies = new HashMap<>();
    private final List<Asked> asked = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch closing = new CountDownLatch(1);
    private final AtomicInteger reads = new AtomicInteger();
    private volatile String card;
    private volatile String cardPath = "/.well-known/agent-card.json";
    private int cardStatus = 200;

    ScriptedServer() {
        try {
            http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
        card = card(true, "");
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/.well-known/", this::card);
        http.createContext("/drip.json", this::drip);
        http.createContext("/rpc", this::rpc);
        http.start();
    }

    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /** A card with one interface; {@code more} are members of the card, each with a comma before it. */
    String card(boolean streaming, String more) {
        return """
                {"name":"scripted","description":"Does as told","version":"1","capabilities":{"streaming":%s},\
                "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[],\
                "supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]%s}""".formatted(streaming, url(), more);
    }

    ScriptedServer showing(String card) {
        this.card = card;
        return this;
    }

    /** Shows the card at this path, and at no other. */
    ScriptedServer showingOnlyAt(String path) {
        cardPath = path;
        return this;
    }

    /** How often something was read that is not the agent's own address. */
    int reads() {
        return reads.get();
    }

    private void card(HttpExchange exchange) throws IOException {
        reads.incrementAndGet();
        boolean here = exchange.getRequestURI().getPath().equals(cardPath);
        send(exchange, here ? cardStatus : 404, here ? card : "{}");
    }

    /** Answers who asks for the card with an error. */
    ScriptedServer refusing(int status, String error) {
        cardStatus = status;
        return showing(error);
    }

    ScriptedServer publishing(String keys) {
        http.createContext("/.well-known/jwks.json", exchange -> send(exchange, 200, keys));
        return this;
    }

    /** The next call of {@code method} is answered with {@code result}; the last one laid ready stays. */
    ScriptedServer on(String method, String result) {
        return lay(method, new Reply(result, null, List.of(), End.CLOSED, 200));
    }

    ScriptedServer onStream(String method, End end, String... events) {
        return lay(method, new Reply(null, null, List.of(events), end, 200));
    }

    /** Events, and then an error as the last frame. */
    ScriptedServer onStreamError(String method, int code, String message, String... events) {
        return lay(method, new Reply(null, error(code, message), List.of(events), End.CLOSED, 200));
    }

    private static String error(int code, String message) {
        return "{\"code\":" + code + ",\"message\":\"" + message + "\"}";
    }

    ScriptedServer onError(String method, int code, String message) {
        return lay(method, new Reply(null, error(code, message), List.of(), End.CLOSED, 200));
    }

    /** Answers with an HTTP status and no JSON-RPC at all. */
    ScriptedServer onStatus(String method, int status) {
        return lay(method, new Reply(null, null, List.of(), End.CLOSED, status));
    }

    private ScriptedServer lay(String method, Reply reply) {
        replies.computeIfAbsent(method, name -> new ArrayDeque<>()).add(reply);
        return this;
    }

    List<Asked> asked() {
        return List.copyOf(asked);
    }

    List<String> methods() {
        return asked().stream().map(Asked::method).toList();
    }

    static String task(String id, String state) {
        return "{\"id\":\"" + id + "\",\"contextId\":\"c1\",\"status\":{\"state\":\"TASK_STATE_" + state + "\"}}";
    }

    static String status(String id, String state) {
        return "{\"statusUpdate\":{\"taskId\":\"" + id + "\",\"contextId\":\"c1\",\"status\":{\"state\":\"TASK_STATE_"
                + state + "\"}}}";
    }

    private void rpc(HttpExchange exchange) throws IOException {
        if (exchange.getRequestMethod().equals("GET")) {
            send(exchange, 405, "");
            return;
        }
        Map<?, ?> request = Json.read(exchange.getRequestBody().readAllBytes(), Map.class);
        String method = String.valueOf(request.get("method"));
        Map<?, ?> params = request.get("params") instanceof Map<?, ?> given ? given : Map.of();
        asked.add(new Asked(
                method,
                params,
                exchange.getRequestHeaders(),
                String.valueOf(exchange.getRequestURI().getQuery())));
        String start =
                "{\"jsonrpc\":\"2.0\",\"id\":" + new String(Json.write(request.get("id")), StandardCharsets.UTF_8);
        Reply reply = next(method);
        if (reply.status() != 200) {
            send(exchange, reply.status(), "");
        } else if (reply.error() != null && reply.events().isEmpty()) {
            send(exchange, 200, start + ",\"error\":" + reply.error() + "}");
        } else if (reply.result() != null) {
            send(exchange, 200, start + ",\"result\":" + reply.result() + "}");
        } else {
            stream(exchange, start, reply);
        }
    }

    /** An answer that has begun, and goes on for ever. */
    private void drip(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write('{');
        exchange.getResponseBody().flush();
        untilClosed();
        exchange.close();
    }

    private void untilClosed() {
        try {
            closing.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized Reply next(String method) {
        Deque<Reply> laid = replies.getOrDefault(method, new ArrayDeque<>());
        Reply first = laid.peek();
        if (first == null) {
            return new Reply(null, error(-32601, "not scripted: " + method), List.of(), End.CLOSED, 200);
        }
        return laid.size() > 1 ? laid.remove() : first;
    }

    private void stream(HttpExchange exchange, String start, Reply reply) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        var body = exchange.getResponseBody();
        for (String event : reply.events()) {
            body.write(("data: " + start + ",\"result\":" + event + "}\n\n").getBytes(StandardCharsets.UTF_8));
            body.flush();
        }
        if (reply.error() != null) {
            body.write(("data: " + start + ",\"error\":" + reply.error() + "}\n\n").getBytes(StandardCharsets.UTF_8));
        }
        switch (reply.end()) {
            case CLOSED -> exchange.close();
            case CUT -> throw new IOException("cut on purpose");
            case STAYS_OPEN -> {
                untilClosed();
                exchange.close();
            }
        }
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        closing.countDown();
        http.stop(0);
    }
}
