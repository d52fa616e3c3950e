package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Part;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley run -a AGENT -i TEXT} and {@code parley config}, as AgentVault has them. */
@Timeout(120)
@Tag("heavy")
final class AgentRunTest {
    @TempDir
    Path directory = Path.of("");

    private final Hub hub = Hub.builder()
            .set("registry-publisher", "agent.localhost")
            .agents(Agent.named("writer", "Writes reports")
                    .skill("write", "Writes a report")
                    .handle((request, reply) -> {
                        switch (request.text()) {
                            case "fail" -> reply.fail("no paper");
                            case "ask" -> reply.askForInput("Which one?");
                            default -> {
                                reply.artifact(Artifact.of(
                                        "report/1", new Part.Text("x".repeat(2_000), null, "text/markdown", Map.of())));
                                reply.artifact(Artifact.of("note", Part.text("short: " + request.text())));
                                reply.complete();
                            }
                        }
                    }))
            .inMemory()
            .port(0)
            .drain(Duration.ofMillis(200))
            .start();
    private Shell shell = new Shell(directory);

    @BeforeEach
    void begin() {
        shell = new Shell(directory).with("AGENTVAULT_REGISTRY_URL", hub.url());
    }

    @AfterEach
    void end() {
        hub.close();
    }

    @Test
    @DisplayName("AV24 artifacts of more than 1 KB are saved with the extension of their type, others are shown")
    void artifacts() throws IOException {
        Ran ran = shell.run("run", "-a", hub.agentUrl("writer"), "-i", "go", "--output-artifacts", "out");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out())
                .contains("State: TASK_STATE_COMPLETED", "short: go")
                .doesNotContain("xxxx");
        assertThat(Files.readString(directory.resolve("out/report_1.md"))).isEqualTo("x".repeat(2_000));
        assertThat(directory.resolve("out")).isDirectoryContaining("glob:**/report_1.md");
        assertThat(directory.resolve("out")).isDirectoryNotContaining("glob:**/note*");
    }

    @Test
    @DisplayName("AV23 the exit status of run is 0, 1 or 2 by the state of the task, and 1 without an agent")
    void statuses() throws IOException {
        Files.writeString(directory.resolve("input.txt"), "ask");
        assertThat(shell.run("run", "-a", hub.agentUrl("writer"), "-i", "hello").status())
                .isZero();
        assertThat(shell.run("run", "-a", hub.agentUrl("writer"), "-i", "fail").status())
                .isEqualTo(1);
        assertThat(shell.run("run", "-a", hub.agentUrl("writer"), "-i", "@input.txt")
                        .status())
                .isEqualTo(2);
        assertThat(shell.run("run", "-a", "http://127.0.0.1:1", "-i", "hello").status())
                .isEqualTo(1);
        Ran unknown = shell.run("run", "-a", "org/none", "-i", "hello");
        assertThat(unknown.status()).isEqualTo(1);
        assertThat(unknown.err()).contains("org/none", "parley discover");
    }

    @Test
    @DisplayName("AV23 an agent of the registry is run by its URN")
    void registered() {
        String id = "urn:air:agent.localhost:default:scribe";
        Ran card = shell.run("card", "get", "-a", hub.agentUrl("writer"), "-o", "json");
        write("card.json", card.out().replace("\"name\":\"writer\"", "\"name\":\"scribe\""));
        Ran registered = shell.run("agent", "register", "card.json", "--visibility", "public", "--url", hub.url());
        assertThat(registered.status()).as(registered.err()).isZero();

        Ran ran = shell.run("run", "-a", id, "-i", "hello");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out()).contains("short: hello");
    }

    @Test
    @DisplayName("D10: the command that run prints to go on with a task works as it is printed")
    void resumes() {
        Ran card = shell.run("card", "get", "-a", hub.agentUrl("writer"), "-o", "json");
        write("card.json", card.out().replace("\"name\":\"writer\"", "\"name\":\"scribe\""));
        Ran registered = shell.run("agent", "register", "card.json", "--visibility", "public", "--url", hub.url());
        assertThat(registered.status()).as(registered.err()).isZero();

        for (List<String> agent : List.of(
                List.of("-a", "urn:air:agent.localhost:default:scribe"),
                List.of("-a", "urn:air:agent.localhost:default:scribe", "--registry", hub.url()),
                List.of("-a", hub.agentUrl("writer")),
                List.of("-a", "card.json"))) {
            var line = new ArrayList<>(List.of("run", "-i", "ask"));
            line.addAll(agent);
            Ran ran = shell.run(line.toArray(String[]::new));
            assertThat(ran.status()).as(ran.err()).isEqualTo(2);
            String resume = ran.out()
                    .lines()
                    .filter(each -> each.startsWith("Resume: parley "))
                    .findFirst()
                    .orElseThrow();

            Ran resumed = shell.run(resume.replace("Resume: parley ", "")
                    .replace("\"<reply>\"", "hello")
                    .split(" ", -1));

            assertThat(resumed.status()).as(resume + resumed.err()).isZero();
            assertThat(resumed.out()).contains("short: hello");
        }
        assertThat(shell.run("send", "-a", "org/none", "hello").err()).contains("org/none", "parley discover");
    }

    @Test
    @DisplayName("GEM14 an agent is configured by a card file, as an option and in the environment")
    void direct() {
        write(
                "card.json",
                shell.run("card", "get", "-a", hub.agentUrl("writer"), "-o", "json")
                        .out());

        Ran byFlag = shell.run("send", "--agent-card", "card.json", "hello");
        Ran byEnvironment =
                new Shell(directory).with("A2ACLI_AGENT_CARD", "card.json").run("send", "hello");

        assertThat(byFlag.status()).as(byFlag.err()).isZero();
        assertThat(byEnvironment.status()).as(byEnvironment.err()).isZero();
        assertThat(byEnvironment.out()).contains("short: hello");
    }

    @Test
    @DisplayName("AV23 config set tells where a key belongs or keeps it, get and list show its source, never the key")
    void config() {
        Shell keys = new Shell(directory).with("AGENTVAULT_KEY_BANK", "secret-of-the-bank");
        assertThat(keys.run("config", "set", "bank", "--env").out()).contains("AGENTVAULT_KEY_BANK");
        assertThat(keys.run("config", "set", "bank", "--file", "keys.env").out())
                .contains("keys.env", "bank=");
        assertThat(keys.run("config", "set", "bank").status()).isEqualTo(1);
        assertThat(keys.run("config", "set", "bank", "--env", "--keyring").status())
                .isEqualTo(1);
        Ran got = keys.run("config", "get", "bank", "--show-key");
        assertThat(got.out()).contains("Service: bank", "secr…").doesNotContain("secret");
        assertThat(keys.run("config", "list").out()).contains("bank").doesNotContain("secret-of");
        assertThat(keys.run("config", "show").status()).isZero();
    }

    private void write(String name, String text) {
        try {
            Files.writeString(directory.resolve(name), text);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
