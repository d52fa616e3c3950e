package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Prometheus' own tool says of the page of measurements. When it is skipped is as with {@link InteropTest}. */
class PromtoolTest {
    @TempDir
    Path directory;

    @Test
    @DisplayName("GEM28: Prometheus' own tool finds nothing amiss on the page")
    void thePageIsAsPrometheusWantsIt() throws Exception {
        Agent echo = Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));
        try (Hub hub = Hub.builder()
                        .data(directory.resolve("data"))
                        .port(0)
                        .agents(echo)
                        .start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"));
                HttpClient http = HttpClient.newHttpClient()) {
            client.send("hello");
            client.stream("hello").forEachRemaining(event -> {});
            for (String path : new String[] {"/agents/nobody", "/metrics"}) {
                http.send(HttpRequest.newBuilder(URI.create(hub.url() + path)).build(), BodyHandlers.ofFile(page()));
            }
        }

        Process promtool = promtool();
        String said = new String(promtool.getInputStream().readAllBytes(), UTF_8);

        assertThat(said).isEmpty();
        assertThat(promtool.waitFor()).isZero();
        assertThat(Files.readString(page())).contains("parley_refused_requests_total{status=\"404\"} 1.0");
    }

    private Process promtool() {
        try {
            return new ProcessBuilder("promtool", "check", "metrics")
                    .redirectInput(page().toFile())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException notInstalled) {
            Requirement.missing(String.valueOf(notInstalled.getMessage()));
            throw new IllegalStateException("missing", notInstalled);
        }
    }

    private Path page() {
        return directory.resolve("page");
    }
}
