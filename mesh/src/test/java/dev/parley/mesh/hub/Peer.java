package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A peer that has nothing but HTTP and JSON. In its JSON, apostrophes stand for quotation marks. */
record Peer(HttpClient http, String base) {
    Peer(String base) {
        this(HttpClient.newHttpClient(), base);
    }

    /** An answer, to look into. */
    record Answer(int status, HttpResponse<String> response) {
        @Override
        public String toString() {
            return status + " " + response.body();
        }

        /** The value at a path of member names and indexes; null if there is none. */
        @Nullable
        Object at(Object... path) {
            Object here = Json.read(response.body().getBytes(UTF_8), Object.class);
            for (Object step : path) {
                here = switch (here) {
                    case List<?> list when step instanceof Integer index && index < list.size() -> list.get(index);
                    case Map<?, ?> map -> map.get(step);
                    case null, default -> null;
                };
            }
            return here;
        }

        String text(Object... path) {
            return Objects.toString(at(path));
        }

        String type() {
            return text("message", "type");
        }

        @Nullable
        Object content(Object... path) {
            var whole = new Object[path.length + 2];
            whole[0] = "message";
            whole[1] = "content";
            System.arraycopy(path, 0, whole, 2, path.length);
            return at(whole);
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }
    }

    /** JSON of an envelope from {@code planner}. */
    static String envelope(String id, String to, String type, String content, String metadata) {
        return """
                {'version':'1.0','messageId':'%s','correlationId':'c-%s',
                 'from':{'agentId':'planner','endpoint':'https://a.example/agents/planner'},
                 'to':{'agentId':'%s','endpoint':'https://b.example/agents/%s/one'},
                 'message':{'type':'%s','mimeType':'application/json','content':%s},'metadata':%s}
                """.formatted(id, id, to, to, type, content, metadata);
    }

    Answer send(String id, String to, String type, String content, String... headers)
            throws IOException, InterruptedException {
        return post("/agents/" + to + "/one", envelope(id, to, type, content, "{}"), headers);
    }

    Answer delegate(String id, String to, String task, String text, String... headers)
            throws IOException, InterruptedException {
        return send(
                id, to, "task_delegation", "{'task':'%s','parameters':{'text':'%s'}}".formatted(task, text), headers);
    }

    Answer post(String path, String body, String... headers) throws IOException, InterruptedException {
        return exchange("POST", path, body, headers);
    }

    Answer get(String path, String... headers) throws IOException, InterruptedException {
        return exchange("GET", path, "", headers);
    }

    private Answer exchange(String method, String path, String body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                .method(
                        method,
                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')));
        boolean typed = false;
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
            typed |= headers[i].equals("Content-Type");
        }
        if (!body.isEmpty() && !typed) {
            request.header("Content-Type", "application/json");
        }
        HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
        return new Answer(response.statusCode(), response);
    }
}
