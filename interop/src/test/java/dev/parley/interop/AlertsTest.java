package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The alerts of {@code deploy/prometheus}. When it is skipped is as with {@link InteropTest}. */
class AlertsTest {
    private static final Path DIRECTORY = Path.of("..", "deploy", "prometheus");
    private static final Pattern METRIC = Pattern.compile("\\b(?:parley|process|jvm)_[a-z_]+");
    private static final Pattern ERROR = Pattern.compile("error=\"([A-Z_]+)\"");

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"check,alerts.yaml", "test,alerts-test.yaml"})
    void prometheusAcceptsTheRulesAndTheirTests(String verb, String file) throws Exception {
        Process promtool = promtool(verb, file);
        String output = new String(promtool.getInputStream().readAllBytes(), UTF_8);

        assertThat(promtool.waitFor()).as(output).isZero();
    }

    private static Process promtool(String verb, String file) {
        try {
            return new ProcessBuilder("promtool", verb, "rules", file)
                    .directory(DIRECTORY.toFile())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException notInstalled) {
            Requirement.missing(String.valueOf(notInstalled.getMessage()));
            throw new IllegalStateException("missing", notInstalled);
        }
    }

    @Test
    void aHubHasEachMetricOfAnAlert() throws Exception {
        Agent unready = Agent.named("unready", "Fails").handle((request, reply) -> reply.fail("no"));
        try (Hub hub = Hub.builder()
                        .data(directory.resolve("data"))
                        .port(0)
                        .set("group-quota", "10GB")
                        .agents(unready)
                        .start();
                AgentClient client = AgentClient.connect(hub.agentUrl("unready"));
                HttpClient http = HttpClient.newHttpClient()) {
            client.send("hello");
            read(http, hub.url() + "/agents/nobody");
            read(http, hub.url() + "/agents/unready/tasks/missing");
            Set<String> shown = matches(METRIC, read(http, hub.url() + "/metrics"), 0);
            Set<String> used = matches(METRIC, alerts(), 0);

            assertThat(used).hasSizeGreaterThan(10);
            assertThat(shown).containsAll(used);
        }
    }

    @Test
    void errorsOfAlertsAreNamesOfErrors() throws Exception {
        assertThat(matches(ERROR, alerts(), 1)).isNotEmpty().allSatisfy(A2AError::valueOf);
    }

    private static String alerts() throws IOException {
        return Files.readString(DIRECTORY.resolve("alerts.yaml"));
    }

    private static String read(HttpClient http, String url) throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(URI.create(url))
                        .header("A2A-Version", "1.0")
                        .build(),
                BodyHandlers.ofString());
        return answer.body();
    }

    private static Set<String> matches(Pattern pattern, String text, int group) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult match) -> match.group(group))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
