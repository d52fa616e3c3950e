package dev.parley.registry;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A client that has nothing but HTTP and JSON. In its JSON, apostrophes stand for quotation marks. */
public record Web(HttpClient http, String base, List<String> headers) {
    /** @param headers names and values, of all requests */
    public Web(String base, String... headers) {
        this(HttpClient.newHttpClient(), base, List.of(headers));
    }

    /** An answer, to look into. */
    public record Answer(int status, byte[] body, HttpResponse<byte[]> response) {
        /** The value at a path of member names and indexes; null if there is none. */
        public @Nullable Object at(Object... path) {
            Object here = Json.read(body, Object.class);
            for (Object step : path) {
                here = switch (here) {
                    case List<?> list when step instanceof Integer index && index < list.size() -> list.get(index);
                    case Map<?, ?> map -> map.get(step);
                    case null, default -> null;
                };
            }
            return here;
        }

        public String text(Object... path) {
            return Objects.toString(at(path));
        }

        public String text() {
            return new String(body, UTF_8);
        }

        /** Values of a member in a list of objects. */
        public List<String> each(String list, String member) {
            var values = new ArrayList<String>();
            for (Object one : (List<?>) Objects.requireNonNull(at(list))) {
                values.add(Objects.toString(((Map<?, ?>) one).get(member)));
            }
            return values;
        }

        public String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        @Override
        public String toString() {
            return status + " " + text();
        }
    }

    /** This client with further headers. */
    public Web with(String... more) {
        var all = new ArrayList<>(headers);
        all.addAll(List.of(more));
        return new Web(http, base, all);
    }

    public Answer get(String path) throws IOException, InterruptedException {
        return send("GET", path, "");
    }

    public Answer post(String path, String body) throws IOException, InterruptedException {
        return send("POST", path, body.replace('\'', '"'));
    }

    /** Sends a form. */
    public Answer form(String path, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + path))
                .POST(BodyPublishers.ofString(body))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .build();
        HttpResponse<byte[]> response = http.send(request, BodyHandlers.ofByteArray());
        return new Answer(response.statusCode(), response.body(), response);
    }

    public Answer delete(String path) throws IOException, InterruptedException {
        return send("DELETE", path, "");
    }

    public Answer send(String method, String path, String body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        for (int i = 0; i < headers.size(); i += 2) {
            request.header(headers.get(i), headers.get(i + 1));
        }
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        HttpResponse<byte[]> response = http.send(request.build(), BodyHandlers.ofByteArray());
        return new Answer(response.statusCode(), response.body(), response);
    }
}
