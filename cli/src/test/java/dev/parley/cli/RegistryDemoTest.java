package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Part;
import dev.parley.trust.Authentication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The recorded demo in {@code docs/registry-demo.md}: its commands print the output on the page. Ids, times and keys
 * are replaced by fixed texts. {@code -Dgolden.write=true} records it anew.
 */
@Timeout(120)
final class RegistryDemoTest {
    private static final Path PAGE = Path.of("..", "docs", "registry-demo.md");
    private static final Pattern BLOCK = Pattern.compile("```console\n(.*?)```", Pattern.DOTALL);
    private static final Pattern KEY = Pattern.compile("parley_[A-Za-z0-9_-]+");

    @TempDir
    Path directory = Path.of("");

    private String key = "";

    @Test
    @DisplayName(
            "AV33: an orchestrator discovers an agent, reads its card, gets a key, runs a task and follows its events")
    void theRecordedDemoRuns() throws IOException {
        Agent writer = Agent.named("writer", "Writes reports about a company")
                .skill("report", "Writes a report", "reports")
                .handle((request, reply) -> {
                    reply.working("Reading");
                    reply.artifact(Artifact.of("report", Part.text("Report: " + request.text())));
                    reply.complete();
                });
        String page = Files.readString(PAGE);
        String recorded;
        try (Hub hub = Hub.builder()
                .agents(writer)
                .set("registry-publisher", "agents.example.com")
                .data(directory.resolve("data"))
                .port(0)
                .drain(Duration.ofMillis(200))
                .authentication(Authentication.named(List.of("required")))
                .start()) {
            recorded = BLOCK.matcher(page).replaceAll(block -> {
                var played = new StringBuilder("```console\n");
                block.group(1)
                        .lines()
                        .filter(line -> line.startsWith("$ "))
                        .forEach(line -> played.append(line).append('\n').append(run(line.substring(2), hub)));
                return Matcher.quoteReplacement(played.append("```").toString());
            });
        }
        if (Boolean.getBoolean("golden.write")) {
            Files.writeString(PAGE, recorded);
        }
        assertThat(recorded).isEqualTo(page).contains("Report: Example Ltd.", "TASK_STATE_COMPLETED");
    }

    /** Runs a command with the key that was created last, or with the first key of the hub. */
    private String run(String line, Hub hub) {
        var shell = new Shell(directory)
                .with("AGENTVAULT_REGISTRY_URL", hub.url())
                .with("A2ACLI_API_KEY", key.isEmpty() ? hub.bootstrapKey().orElseThrow() : key);
        String[] words = line.replace("http://127.0.0.1:7420", hub.url())
                .replaceFirst("^parley ", "")
                .split(" (?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", -1);
        for (int i = 0; i < words.length; i++) {
            words[i] = words[i].replace("\"", "");
        }
        Ran ran = shell.run(words);
        assertThat(ran.status()).as(line + "\n" + ran.err()).isZero();
        Matcher created = KEY.matcher(ran.out());
        if (line.startsWith("parley key create") && created.find()) {
            key = created.group();
        }
        String shown = ran.out()
                .replace(hub.url(), "http://127.0.0.1:7420")
                .replaceAll("localhost:\\d+", "localhost:7420")
                .replaceAll(KEY.pattern(), "parley_…")
                .replaceAll("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "019a…")
                .replaceAll("(?m)^ +\\d+(  writer .* )lists:words.*$", "   97$1lists:words …") // of the search
                .replaceAll("sha256:[0-9a-f]{64}", "sha256:…")
                .replaceAll("(?m)^ID: [0-9a-f]+$", "ID: 784f…")
                .replaceAll("(?m)^Change: \\d+$", "Change: 1")
                .replaceAll("(?m)^(Capabilities: streaming, pushNotifications).*$", "$1, …")
                .replaceAll("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z", "2026-11-23T12:00:00Z");
        return shown.endsWith("\n") || shown.isEmpty() ? shown : shown + "\n";
    }
}
