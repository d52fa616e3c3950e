package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The administration of a hub over HTTP. */
public record Admin(String url, String key) {
    public static final HttpClient HTTP = HttpClient.newHttpClient();

    public static Admin of(Hub hub) {
        return new Admin(hub.adminUrl(), hub.bootstrapKey().orElse(""));
    }

    public HttpResponse<byte[]> ask(String method, String path, @Nullable Map<String, ?> body)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + "/admin/gateway/routes" + path))
                .header("Content-Type", "application/json")
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(Json.write(body)));
        if (!key.isEmpty()) {
            request.header("X-Api-Key", key);
        }
        return HTTP.send(request.build(), BodyHandlers.ofByteArray());
    }

    public Map<?, ?> done(String method, String path, @Nullable Map<String, ?> body)
            throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = ask(method, path, body);
        assertThat(answer.statusCode()).as(new String(answer.body(), UTF_8)).isEqualTo(200);
        return Json.read(answer.body(), Map.class);
    }

    /** Adds a route. */
    public Map<?, ?> add(String name, String to, Map<String, ?> options) throws IOException, InterruptedException {
        var body = new HashMap<String, Object>(options);
        body.put("name", name);
        body.put("url", to);
        return done("POST", "", body);
    }

    public Map<?, ?> show(String name) throws IOException, InterruptedException {
        return done("GET", "/" + name, null);
    }

    String state(String name) throws IOException, InterruptedException {
        return String.valueOf(requireNonNull(show(name).get("state")));
    }
}
