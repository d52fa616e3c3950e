package dev.parley.mcp.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A client of MCP that writes its requests by hand. */
final class RawPeer {
    static final Map<String, Object> FORMS = Map.of("elicitation", Map.of("form", Map.of()));
    static final Map<String, Object> PAGES = Map.of("elicitation", Map.of("form", Map.of(), "url", Map.of()));
    static final Map<String, Object> TASKS =
            Map.of("elicitation", Map.of(), "extensions", Map.of("io.modelcontextprotocol/tasks", Map.of()));

    /** An answer: its messages, of which the last is the result. */
    record Answer(HttpResponse<?> http, List<Map<?, ?>> messages) {
        Map<?, ?> last() {
            return messages.getLast();
        }

        Map<?, ?> result() {
            if (!(last().get("result") instanceof Map<?, ?> result)) {
                throw new AssertionError("no result: " + messages);
            }
            return result;
        }

        /** A member of the result, which must have it. */
        Object member(String name) {
            return requireNonNull(result().get(name), name);
        }

        Map<?, ?> structured() {
            return (Map<?, ?>) member("structuredContent");
        }

        Object code() {
            return requireNonNull(((Map<?, ?>) requireNonNull(last().get("error"), "error")).get("code"), "code");
        }

        /** The text of all contents. */
        String text() {
            var texts = new ArrayList<String>();
            for (Object content : (List<?>) member("content")) {
                texts.add(String.valueOf(((Map<?, ?>) content).get("text")));
            }
            return String.join("|", texts);
        }
    }

    private static final AtomicInteger IDS = new AtomicInteger();

    final HttpClient http = HttpClient.newHttpClient();
    private final String url;
    private final Map<String, String> headers;
    private String session = "";

    RawPeer(String url, String... headers) {
        this.url = url;
        this.headers = new LinkedHashMap<>();
        for (int i = 0; i < headers.length; i += 2) {
            this.headers.put(headers[i], headers[i + 1]);
        }
    }

    String url() {
        return url;
    }

    /** A call of the revision of 2026. */
    Answer modern(String method, Map<String, ?> params, Map<String, ?> capabilities) throws Exception {
        return answer(request(method, params, capabilities).build());
    }

    HttpRequest.Builder request(String method, Map<String, ?> params, Map<String, ?> capabilities) {
        var all = new LinkedHashMap<String, Object>(params);
        var meta = new LinkedHashMap<String, Object>(Map.of(
                "io.modelcontextprotocol/protocolVersion",
                "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities",
                capabilities));
        if (params.get("_meta") instanceof Map<?, ?> more) {
            more.forEach((name, value) -> meta.put(String.valueOf(name), value));
        }
        all.put("_meta", meta);
        HttpRequest.Builder request =
                post(method, all).header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
        Stream.of("name", "uri", "taskId")
                .filter(params::containsKey)
                .findFirst()
                .ifPresent(name -> request.header("Mcp-Name", String.valueOf(params.get(name))));
        return request;
    }

    /** A call of the revision of November 2025, in the session. */
    Answer legacy(String method, Map<String, ?> params) throws Exception {
        HttpRequest.Builder request = post(method, params).header("MCP-Protocol-Version", "2025-11-25");
        if (!session.isEmpty()) {
            request.header("Mcp-Session-Id", session);
        }
        Answer answer = answer(request.build());
        answer.http().headers().firstValue("Mcp-Session-Id").ifPresent(id -> session = id);
        return answer;
    }

    /** A call without session, with the headers of this peer only. */
    Answer plain(String method, Map<String, ?> params) throws Exception {
        return answer(post(method, params).build());
    }

    /** Opens a stream of events: of a subscription of 2026, or of the session. */
    HttpResponse<InputStream> listen(boolean inSession) throws Exception {
        HttpRequest request = inSession
                ? builder().header("Mcp-Session-Id", session).GET().build()
                : request("subscriptions/listen", Map.of("notifications", Map.of("toolsListChanged", true)), Map.of())
                        .build();
        return http.send(request, BodyHandlers.ofInputStream());
    }

    /** Begins a task of an agent by A2A, at the address of the agent, and returns its id. */
    String begin(String agent, String text) throws Exception {
        Map<String, Object> message = Map.of(
                "messageId", "m" + IDS.incrementAndGet(), "role", "ROLE_USER", "parts", List.of(Map.of("text", text)));
        byte[] body = Json.write(Map.of("message", message, "configuration", Map.of("returnImmediately", true)));
        HttpResponse<String> answer = http.send(
                builder(agent + "/message:send")
                        .header("A2A-Version", "1.0")
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofString());
        Object task = requireNonNull(read(answer.body()).get("task"), answer.body());
        return String.valueOf(((Map<?, ?>) task).get("id"));
    }

    /** Waits until a task has ended, by A2A. */
    void awaitEnd(String agent, String taskId) throws Exception {
        http.send(
                builder(agent + "/tasks/" + taskId + ":subscribe")
                        .header("A2A-Version", "1.0")
                        .build(),
                BodyHandlers.discarding());
    }

    private HttpRequest.Builder builder() {
        return builder(url);
    }

    private HttpRequest.Builder builder(String url) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url)).header("Accept", "application/json, text/event-stream");
        headers.forEach(request::header);
        return request;
    }

    private HttpRequest.Builder post(String method, Map<String, ?> params) {
        byte[] body =
                Json.write(Map.of("jsonrpc", "2.0", "id", IDS.incrementAndGet(), "method", method, "params", params));
        return builder().header("Content-Type", "application/json").POST(BodyPublishers.ofByteArray(body));
    }

    private Answer answer(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
        List<Map<?, ?>> messages = answer.body().startsWith("{")
                ? List.of(read(answer.body()))
                : answer.body()
                        .lines()
                        .filter(line -> line.startsWith("data: "))
                        .<Map<?, ?>>map(line -> read(line.substring("data: ".length())))
                        .toList();
        return new Answer(answer, messages);
    }

    static Map<?, ?> read(String json) {
        return Json.read(json.getBytes(UTF_8), Map.class);
    }

    /** Calls a tool in the revision of 2026. */
    Answer call(String tool, Map<String, ?> arguments, Map<String, ?> capabilities) throws Exception {
        return modern("tools/call", Map.of("name", tool, "arguments", arguments), capabilities);
    }
}
