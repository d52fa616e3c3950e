package dev.parley.mcp.command;

import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.JsonText;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Agents that a hub lists at its address, without credentials. */
final class HubListing {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private HubListing() {}

    /** Addresses of the agents of a hub at its own origin; the address itself if it is no hub, or lists none. */
    static List<String> of(String address) throws InterruptedException {
        String hub = address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
        if (!hub.matches("https?://[^/?#]+")) {
            return List.of(address);
        }
        try (HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build()) {
            HttpResponse<byte[]> answer = http.send(
                    HttpRequest.newBuilder(URI.create(hub + "/agents"))
                            .timeout(TIMEOUT)
                            .header("Accept", "application/json")
                            .build(),
                    BodyHandlers.ofByteArray());
            Map<String, @Nullable Object> listing = JsonText.read(answer.body(), Codecs.STRUCT);
            List<String> urls = listing.get("agents") instanceof List<?> agents
                    ? agents.stream()
                            .map(agent -> agent instanceof Map<?, ?> map ? String.valueOf(map.get("url")) : "")
                            .filter(url -> url.startsWith(hub + "/") && !url.endsWith("/agents/mcp"))
                            .toList()
                    : List.of();
            return urls.isEmpty() ? List.of(address) : urls;
        } catch (IOException | IllegalArgumentException | A2AException none) {
            return List.of(address);
        }
    }
}
