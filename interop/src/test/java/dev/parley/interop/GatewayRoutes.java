package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;

/** The administration of the routes of a hub without authentication. */
final class GatewayRoutes {
    private GatewayRoutes() {}

    /** Adds a route with these options, among them its {@code name} and the {@code url} of its agent. */
    static void add(Hub hub, Map<String, ?> route) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(hub.adminUrl() + "/admin/gateway/routes"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofByteArray(Json.write(route)))
                .build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<byte[]> answer = http.send(request, BodyHandlers.ofByteArray());
            assertThat(answer.statusCode()).as(new String(answer.body(), UTF_8)).isEqualTo(200);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new InterruptedIOException("adding a route"));
        }
    }
}
