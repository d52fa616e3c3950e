package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.function.Function;

/**
 * Server of a model whose answers are a script: {@code /api/chat} in the format of Ollama, {@code /v1/chat/completions} in that of
 * OpenAI, each as one answer or as a stream.
 */
final class ModelServer implements AutoCloseable {
    /** Messages and tools of a request. */
    record Request(String path, List<Map<?, ?>> messages, List<String> tools) {
        /** Content of the last message: of the user, or of the result of a tool. */
        String last() {
            return text(messages.getLast());
        }

        boolean hasResult() {
            return "tool".equals(messages.getLast().get("role"));
        }

        /** All contents, in lines. */
        String all() {
            return String.join("\n", messages.stream().map(Request::text).toList());
        }

        private static String text(Map<?, ?> message) {
            return message.get("content") instanceof List<?> parts
                    ? String.join(
                            "",
                            parts.stream()
                                    .map(part -> String.valueOf(((Map<?, ?>) part).get("text")))
                                    .toList())
                    : requireNonNullElse(message.get("content"), "").toString();
        }
    }

    /** Answer of the model: a text, or the call of a tool. */
    sealed interface Answer {
        record Text(String text) implements Answer {}

        record Call(String tool, Map<String, ?> arguments) implements Answer {}
    }

    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final Function<Request, Answer> script;
    private final HttpServer server;

    /** Starts it at a free port. */
    ModelServer(Function<Request, Answer> script) throws IOException {
        this.script = script;
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/api/chat", this::ollama);
        server.createContext("/v1/chat/completions", this::openAi);
        server.start();
    }

    /** Requests so far, oldest first. */
    List<Request> requests() {
        return requests;
    }

    /** Variables with which programs find this server. */
    Map<String, String> environment(String format) {
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        return Map.of(
                "MODEL_FORMAT",
                format,
                "MODEL_URL",
                format.equals("openai") ? url + "/v1" : url,
                "MODEL_NAME",
                "scripted",
                "MODEL_KEY",
                "none");
    }

    private Answer answer(HttpExchange exchange, Map<?, ?> body) {
        var messages = new ArrayList<Map<?, ?>>();
        requireNonNull((List<?>) body.get("messages")).forEach(message -> messages.add((Map<?, ?>) message));
        List<String> tools = body.get("tools") instanceof List<?> all
                ? all.stream()
                        .map(tool -> (Map<?, ?>) ((Map<?, ?>) tool).get("function"))
                        .map(function -> String.valueOf(function.get("name")))
                        .toList()
                : List.of();
        var request = new Request(exchange.getRequestURI().getPath(), messages, tools);
        requests.add(request);
        return script.apply(request);
    }

    private void ollama(HttpExchange exchange) throws IOException {
        Map<?, ?> body = Json.read(exchange.getRequestBody().readAllBytes(), Map.class);
        Map<String, ?> message = switch (answer(exchange, body)) {
            case Answer.Text text -> Map.of("role", "assistant", "content", text.text());
            case Answer.Call call ->
                Map.of(
                        "role",
                        "assistant",
                        "content",
                        "",
                        "tool_calls",
                        List.of(Map.of("function", Map.of("name", call.tool(), "arguments", call.arguments()))));
        };
        String line = json(Map.of("model", "scripted", "message", message, "done", false));
        String end =
                json(Map.of("model", "scripted", "message", message("assistant"), "done", true, "done_reason", "stop"));
        if (Boolean.FALSE.equals(body.get("stream"))) {
            respond(exchange, "application/json", line.replace("\"done\":false", "\"done\":true"));
        } else {
            respond(exchange, "application/x-ndjson", line + "\n" + end + "\n");
        }
    }

    private static Map<String, String> message(String role) {
        return Map.of("role", role, "content", "");
    }

    private void openAi(HttpExchange exchange) throws IOException {
        Map<?, ?> body = Json.read(exchange.getRequestBody().readAllBytes(), Map.class);
        Answer answer = answer(exchange, body);
        Map<String, ?> message = switch (answer) {
            case Answer.Text text -> Map.of("role", "assistant", "content", text.text());
            case Answer.Call call ->
                Map.of(
                        "role",
                        "assistant",
                        "tool_calls",
                        List.of(Map.of(
                                "index",
                                0,
                                "id",
                                "call-" + requests.size(),
                                "type",
                                "function",
                                "function",
                                Map.of("name", call.tool(), "arguments", json(call.arguments())))));
        };
        String reason = answer instanceof Answer.Call ? "tool_calls" : "stop";
        if (Boolean.TRUE.equals(body.get("stream"))) {
            respond(
                    exchange,
                    "text/event-stream",
                    "data: " + chunk(Map.of("index", 0, "delta", message)) + "\n\ndata: "
                            + chunk(Map.of("index", 0, "delta", Map.of(), "finish_reason", reason))
                            + "\n\ndata: [DONE]\n\n");
        } else {
            respond(
                    exchange,
                    "application/json",
                    json(Map.of(
                            "id",
                            "1",
                            "object",
                            "chat.completion",
                            "created",
                            0,
                            "model",
                            "scripted",
                            "choices",
                            List.of(Map.of("index", 0, "message", message, "finish_reason", reason)),
                            "usage",
                            Map.of("prompt_tokens", 1, "completion_tokens", 1, "total_tokens", 2))));
        }
    }

    private static String chunk(Map<String, ?> choice) {
        return json(Map.of(
                "id",
                "1",
                "object",
                "chat.completion.chunk",
                "created",
                0,
                "model",
                "scripted",
                "choices",
                List.of(choice)));
    }

    private static String json(Object value) {
        return new String(Json.write(value), UTF_8);
    }

    private static void respond(HttpExchange exchange, String type, String text) throws IOException {
        byte[] body = text.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
