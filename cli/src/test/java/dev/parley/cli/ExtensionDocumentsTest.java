package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.Hub;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.protocol.extension.ExtensionUri;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.ServiceLoader;
import java.util.regex.Pattern;
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
                .filter(ExtensionUri::isPermanent)
                .map(uri -> ExtensionUri.path(uri, ""))
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

    private static String cards(Hub hub, HttpClient http) throws Exception {
        var cards = new StringBuilder();
        for (String agent : List.of("echo", "one", "registry")) {
            for (String file : List.of("agent-card.json", "agent.json")) {
                HttpRequest request = HttpRequest.newBuilder(URI.create(
                                "http://127.0.0.1:" + hub.port() + "/agents/" + agent + "/.well-known/" + file))
                        .header("A2A-Version", "1.0")
                        .build();
                cards.append(http.send(request, BodyHandlers.ofString()).body());
            }
        }
        return cards.toString();
    }

    private static List<String> uris(String cards) {
        return Pattern.compile("\"uri\":\"([^\"]+)\"")
                .matcher(cards)
                .results()
                .map(found -> found.group(1))
                .sorted()
                .toList();
    }

    @Test
    @DisplayName(
            "M6 the URIs of the hub's own extensions are the same at every address; addresses of earlier releases are aliases")
    void permanent() throws Exception {
        Agent echo = Agent.named("echo", "Echoes")
                .uses(SharedKnowledge.VIEW)
                .handle((request, reply) -> reply.complete(request.text()));
        try (Hub hub = Hub.builder().inMemory().port(0).agents(echo).start();
                Hub other = Hub.builder()
                        .inMemory()
                        .port(0)
                        .publicUrl("http://localhost:9999")
                        .agents(echo)
                        .start();
                HttpClient http = HttpClient.newHttpClient()) {
            List<String> uris = uris(cards(hub, http));
            assertThat(uris)
                    .isEqualTo(uris(cards(other, http)))
                    .contains(
                            "urn:parley:hub/extensions/one-envelope/v1",
                            "urn:parley:hub/extensions/one-workflows/v1",
                            "urn:parley:hub/extensions/registry/v1",
                            "urn:parley:hub/extensions/knowledge-graph/v1")
                    .noneMatch(uri -> uri.contains("localhost") || uri.contains("127.0.0.1"));

            String listed = http.send(
                            HttpRequest.newBuilder(URI.create(hub.url() + "/extensions"))
                                    .build(),
                            BodyHandlers.ofString())
                    .body();
            assertThat(listed)
                    .contains("\"uri\":\"urn:parley:hub/extensions/registry/v1\",\"document\":\"" + hub.url()
                            + "/extensions/registry/v1\"");

            String path = "/extensions/knowledge-graph/v1";
            for (String uri :
                    List.of("urn:parley:hub" + path, hub.url() + path, "https://earlier.example:7420" + path)) {
                HttpResponse<String> sent = http.send(
                        HttpRequest.newBuilder(URI.create(hub.url() + "/agents/echo/message:send"))
                                .header("A2A-Version", "1.0")
                                .header("A2A-Extensions", uri)
                                .header("Content-Type", "application/json")
                                .POST(
                                        HttpRequest.BodyPublishers.ofString(
                                                "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"x\"}]}}"))
                                .build(),
                        BodyHandlers.ofString());
                assertThat(sent.statusCode()).as(sent.body()).isEqualTo(200);
                assertThat(sent.headers().firstValue("A2A-Extensions")).as(uri).contains(uri);
            }
        }
    }
}
