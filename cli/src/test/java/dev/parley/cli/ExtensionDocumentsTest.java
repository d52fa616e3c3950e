package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.Hub;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Specifications of the extensions of the program. */
@Timeout(60)
final class ExtensionDocumentsTest {
    @Test
    @DisplayName(
            "M6 the URI of each extension of the hub's own serves its document, also on a hub without agents that have it")
    void documents() throws Exception {
        List<String> paths = ServiceLoader.load(HubExtensionSource.class).stream()
                .map(source -> source.get().uri())
                .filter(uri -> uri.startsWith("/"))
                .toList();
        assertThat(paths).hasSizeGreaterThan(4);
        try (Hub hub = Hub.builder().inMemory().port(0).start();
                HttpClient http = HttpClient.newHttpClient()) {
            for (String path : paths) {
                HttpResponse<String> document = http.send(
                        HttpRequest.newBuilder(URI.create(hub.url() + path)).build(), BodyHandlers.ofString());

                assertThat(document.statusCode()).as(path).isEqualTo(200);
                assertThat(document.headers().firstValue("Content-Type").orElse(""))
                        .startsWith("text/markdown");
                assertThat(document.body()).contains("#");
            }
        }
    }
}
