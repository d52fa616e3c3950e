package dev.parley.cli.postgresql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Calls of a hub by plain HTTP, for any number of threads. Of hubs that share a database the next one is called after a hub that does
 * not serve, as a balancer does it.
 */
final class HubCalls {
    /** The wait of a client for an answer; longer than all that these tests promise. */
    private static final Duration PATIENCE = Duration.ofSeconds(45);

    private final HttpClient http;
    private final List<String> urls;
    /** The API key of the caller; null for an anonymous one. */
    private final @Nullable String key;

    private final AtomicInteger turn = new AtomicInteger();

    HubCalls(String... urls) {
        this(builder().build(), List.of(urls), null);
    }

    private HubCalls(HttpClient http, List<String> urls, @Nullable String key) {
        this.http = http;
        this.urls = urls;
        this.key = key;
    }

    /** Returns calls by TLS. */
    static HubCalls trusting(SSLContext trust, String url) {
        return new HubCalls(builder().sslContext(trust).build(), List.of(url), null);
    }

    /** Returns the same calls with an API key. */
    HubCalls by(String key) {
        return new HubCalls(http, urls, key);
    }

    private static HttpClient.Builder builder() {
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5));
    }

    /** The address of the hub; the first one of several. */
    String url() {
        return urls.getFirst();
    }

    /** Sends a message to the agent {@code echo} by JSON-RPC. */
    Answer send(String messageId) {
        return send(messageId, messageId);
    }

    Answer send(String messageId, String text) {
        return post("/agents/echo", sending(messageId, text, Map.of()));
    }

    /** Has the agent {@code counter} count, without waiting for the end. */
    Answer count(String messageId, int to) {
        return post("/agents/counter", sending(messageId, Integer.toString(to), Map.of("returnImmediately", true)));
    }

    /** The request SendMessage in JSON-RPC. */
    static Map<String, ?> sending(String messageId, String text, Map<String, ?> configuration) {
        Map<String, ?> message =
                Map.of("messageId", messageId, "role", "ROLE_USER", "parts", List.of(Map.of("text", text)));
        return Map.of(
                "jsonrpc",
                "2.0",
                "id",
                1,
                "method",
                "SendMessage",
                "params",
                Map.of("message", message, "configuration", configuration));
    }

    Answer post(String path, Map<String, ?> body) {
        return call(request(path)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(Json.write(body))));
    }

    /** Reads a task of the agent {@code echo} by REST, whose status tells a missing task from an outage. */
    Answer task(String id) {
        return get("/agents/echo/tasks/" + id);
    }

    Answer ready() {
        return get("/ready");
    }

    Answer get(String path) {
        return call(request(path).GET());
    }

    /** Returns the number of tasks of the agent {@code echo}. */
    int tasks() {
        Answer page = get("/agents/echo/tasks?pageSize=1");
        assertThat(page.status()).as(page.toString()).isEqualTo(Answer.OK);
        return ((Number) requireNonNull(page.json().get("totalSize"))).intValue();
    }

    /** Returns the value of a metric without labels. */
    OptionalDouble metric(String name) {
        return get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
                .findFirst();
    }

    private HttpRequest.Builder request(String path) {
        String url = urls.get(Math.floorMod(turn.get(), urls.size()));
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path))
                .header("A2A-Version", "1.0")
                .timeout(PATIENCE);
        return key == null ? request : request.header("X-Api-Key", key);
    }

    private Answer call(HttpRequest.Builder request) {
        int called = turn.get();
        Answer answer = answer(request);
        if (answer.status() == Answer.NONE || answer.status() == Answer.UNAVAILABLE) {
            turn.compareAndSet(called, called + 1);
        }
        return answer;
    }

    private Answer answer(HttpRequest.Builder request) {
        long begun = System.nanoTime();
        try {
            HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
            boolean lacksTime = response.statusCode() == Answer.UNAVAILABLE
                    && response.headers().firstValue("Retry-After").isEmpty();
            String body = lacksTime ? Answer.WITHOUT_TIME + response.body() : response.body();
            return new Answer(response.statusCode(), body, begun, System.nanoTime());
        } catch (IOException cut) {
            return new Answer(Answer.NONE, String.valueOf(cut), begun, System.nanoTime());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return new Answer(Answer.NONE, "interrupted", begun, System.nanoTime());
        }
    }
}
