package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Someone who has nothing but HTTP and JSON. In its JSON, apostrophes stand for quotation marks. */
final class Outsider {
    private final HttpClient http = HttpClient.newHttpClient();
    private final String base;

    Outsider(String base) {
        this.base = base;
    }

    /** Calls a JSON-RPC method, and returns the whole answer. */
    Shown rpc(String path, String method, String params, String... headers) throws IOException, InterruptedException {
        return Shown.of(post(path, envelope(method, params), headers).body());
    }

    /** Calls a JSON-RPC method that succeeds, and returns its result. */
    Shown result(String path, String method, String params, String... headers)
            throws IOException, InterruptedException {
        Shown answer = rpc(path, method, params, headers);
        assertThat(answer.has("result")).as(answer.toString()).isTrue();
        assertThat(answer.has("error")).isFalse();
        return answer.at("result");
    }

    /** Calls a JSON-RPC method that fails, and returns the code. */
    @Nullable
    Object code(String path, String method, String params, String... headers) throws IOException, InterruptedException {
        Shown answer = rpc(path, method, params, headers);
        assertThat(answer.has("result")).as(answer.toString()).isFalse();
        return answer.at("error", "code").value();
    }

    HttpResponse<String> post(String path, String body, String... headers) throws IOException, InterruptedException {
        return http.send(request("POST", path, body, headers), BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path, String... headers) throws IOException, InterruptedException {
        return http.send(request("GET", path, "", headers), BodyHandlers.ofString());
    }

    HttpResponse<String> send(String method, String path, String... headers) throws IOException, InterruptedException {
        return http.send(request(method, path, "", headers), BodyHandlers.ofString());
    }

    HttpResponse<String> delete(String path) throws IOException, InterruptedException {
        return http.send(request("DELETE", path, ""), BodyHandlers.ofString());
    }

    /** Waits until the hub tells its readiness by a status and a body with a pattern, and returns the body. */
    String awaitReady(int status, String pattern) throws Exception {
        var awaited = Pattern.compile("^" + status + " .*(" + pattern + ")", Pattern.DOTALL);
        String shown = Eventually.value(
                "/ready: " + awaited,
                () -> {
                    HttpResponse<String> answer = get("/ready");
                    return answer.statusCode() + " " + answer.body();
                },
                each -> awaited.matcher(each).find());
        return shown.substring(shown.indexOf(' ') + 1);
    }

    /** Calls a JSON-RPC method that answers with a stream. */
    Frames stream(String path, String method, String params, String... headers)
            throws IOException, InterruptedException {
        return streamOf("POST", path, envelope(method, params), headers);
    }

    Frames streamOf(String verb, String path, String body, String... headers) throws IOException, InterruptedException {
        HttpResponse<Stream<String>> answer = http.send(request(verb, path, body, headers), BodyHandlers.ofLines());
        return new Frames(answer);
    }

    private HttpRequest request(String verb, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                .method(
                        verb,
                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return request.build();
    }

    private static String envelope(String method, String params) {
        return "{'jsonrpc':'2.0','id':'q-1','method':'" + method + "','params':" + params + "}";
    }

    /** JSON, to look into. */
    record Shown(@Nullable Object value) {
        static Shown of(String json) {
            return new Shown(Json.read(json.getBytes(StandardCharsets.UTF_8), Object.class));
        }

        /** Follows names and indexes; what is not there is null. */
        Shown at(Object... path) {
            Object here = value;
            for (Object step : path) {
                here = switch (here) {
                    case List<?> list when step instanceof Integer index && index < list.size() -> list.get(index);
                    case Map<?, ?> map -> map.get(step);
                    case null, default -> null;
                };
            }
            return new Shown(here);
        }

        boolean has(String name) {
            return value instanceof Map<?, ?> map && map.containsKey(name);
        }

        /** The names of the members. */
        List<String> names() {
            return value instanceof Map<?, ?> map
                    ? map.keySet().stream().map(Object::toString).toList()
                    : List.of();
        }

        int size() {
            return value instanceof List<?> list ? list.size() : 0;
        }

        String text() {
            return Objects.toString(value);
        }

        @Override
        public String toString() {
            return text();
        }
    }

    /** A frame of a stream: the event that it is called, if any, and its data. */
    record Frame(@Nullable String event, Shown data) {
        Shown at(Object... path) {
            return data.at(path);
        }
    }

    /** The frames of one stream, as they come. */
    static final class Frames implements AutoCloseable {
        private final HttpResponse<Stream<String>> answer;
        private final Stream<String> lines;
        private final Iterator<String> left;

        Frames(HttpResponse<Stream<String>> answer) {
            this.answer = answer;
            this.lines = answer.body();
            this.left = lines.iterator();
        }

        int status() {
            return answer.statusCode();
        }

        String header(String name) {
            return answer.headers().firstValue(name).orElse("");
        }

        /** Waits for the next frame; null if the stream has ended. */
        @Nullable
        Frame next() {
            String event = null;
            while (left.hasNext()) {
                String line = left.next();
                if (line.startsWith("event: ")) {
                    event = line.substring("event: ".length());
                } else if (line.startsWith("data: ")) {
                    return new Frame(event, Shown.of(line.substring("data: ".length())));
                }
            }
            return null;
        }

        /** Reads on to a frame like this. */
        Frame until(Predicate<Frame> wanted) {
            for (Frame frame = next(); frame != null; frame = next()) {
                if (wanted.test(frame)) {
                    return frame;
                }
            }
            throw new AssertionError("the stream ended before such a frame");
        }

        /** Reads to the end. */
        List<Frame> all() {
            var all = new ArrayList<Frame>();
            for (Frame frame = next(); frame != null; frame = next()) {
                all.add(frame);
            }
            return all;
        }

        @Override
        public void close() {
            lines.close();
        }
    }
}
