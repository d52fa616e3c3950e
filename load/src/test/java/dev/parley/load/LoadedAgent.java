package dev.parley.load;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/**
 * An agent that was written without anything of ours: a card, and as much JSON-RPC as a load run asks for. What it does is
 * said by the text of the message.
 */
final class LoadedAgent implements AutoCloseable {
    private static final String STATUS =
            "\"status\":{\"state\":\"TASK_STATE_%s\",\"timestamp\":\"2026-11-20T09:00:00.000Z\"}";

    private final HttpServer http;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Set<String> messageIds = ConcurrentHashMap.newKeySet();
    private volatile String interfaceUrl;

    LoadedAgent() throws IOException {
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        interfaceUrl = url() + "/rpc";
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/.well-known/agent-card.json", exchange -> answer(exchange, card()));
        http.createContext("/rpc", this::rpc);
        http.start();
    }

    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /** Lets the card name another address. */
    LoadedAgent movedTo(String url) {
        interfaceUrl = url;
        return this;
    }

    /** The ids of all messages so far. */
    Set<String> messageIds() {
        return messageIds;
    }

    private String card() {
        return "{\"name\":\"loaded\",\"description\":\"For load runs\",\"version\":\"1\",\"capabilities\":{\"streaming\":true},"
                + "\"defaultInputModes\":[\"text/plain\"],\"defaultOutputModes\":[\"text/plain\"],\"skills\":[],"
                + "\"supportedInterfaces\":[{\"url\":\"" + interfaceUrl
                + "\",\"protocolBinding\":\"JSONRPC\",\"protocolVersion\":\"1.0\"}]}";
    }

    private void rpc(HttpExchange exchange) throws IOException {
        Map<?, ?> request = Json.read(exchange.getRequestBody().readAllBytes(), Map.class);
        Map<?, ?> params = request.get("params") instanceof Map<?, ?> map ? map : Map.of();
        String id = new String(Json.write(request.get("id")), StandardCharsets.UTF_8);
        String text = "";
        if (params.get("message") instanceof Map<?, ?> message) {
            boolean fresh = messageIds.add(String.valueOf(message.get("messageId")));
            text = fresh ? new String(Json.write(message.get("parts")), StandardCharsets.UTF_8) : "refused: twice";
        }
        String start = "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":";
        switch (String.valueOf(request.get("method"))) {
            case "SendMessage" -> send(exchange, id, start, text);
            case "SendStreamingMessage" -> stream(exchange, start, text);
            case "GetTask" -> answer(exchange, start + task(String.valueOf(params.get("id")), "COMPLETED") + "}");
            case "ListTasks" ->
                answer(exchange, start + "{\"tasks\":[],\"nextPageToken\":\"\",\"pageSize\":50,\"totalSize\":0}}");
            default -> answer(exchange, error(id, -32601));
        }
    }

    private void send(HttpExchange exchange, String id, String start, String text) throws IOException {
        // The first message is a trial, which has to succeed for a run to begin.
        boolean trial = messageIds.size() == 1;
        if (text.contains("refused") || text.contains("flaky") && !trial) {
            answer(exchange, error(id, -32603));
        } else if (text.contains("stuck") && !trial) {
            await();
        } else if (text.contains("task")) {
            answer(exchange, start + "{\"task\":" + task("t-" + messageIds.size(), "COMPLETED") + "}}");
        } else {
            answer(
                    exchange,
                    start
                            + "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"pong\"}]}}}");
        }
    }

    private void stream(HttpExchange exchange, String start, String text) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream out = exchange.getResponseBody()) {
            event(out, start + "{\"task\":" + task("t", "WORKING") + "}}");
            if (text.contains("wait")) {
                await();
            }
            for (String state : new String[] {"WORKING", "COMPLETED"}) {
                event(
                        out,
                        start + "{\"statusUpdate\":{\"taskId\":\"t\",\"contextId\":\"c\"," + STATUS.formatted(state)
                                + "}}}");
            }
        }
    }

    private void await() {
        try {
            closed.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static void event(OutputStream out, String json) throws IOException {
        out.write((": comment\n\ndata: " + json + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static String task(String id, String state) {
        return "{\"id\":\"" + id + "\",\"contextId\":\"c\"," + STATUS.formatted(state) + "}";
    }

    private static String error(String id, int code) {
        return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"error\":{\"code\":" + code + ",\"message\":\"no\"}}";
    }

    private static void answer(HttpExchange exchange, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    @Override
    public void close() {
        closed.countDown();
        http.stop(0);
    }
}
