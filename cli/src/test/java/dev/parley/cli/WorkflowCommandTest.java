package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley workflow …} against a hub. */
@Timeout(120)
final class WorkflowCommandTest {
    private static final String YAML = """
            coordinator: lead
            workflow:
              steps:
                - id: first
                  agent: echo
                  task: echo
                  parameters: {text: hello}
                - id: second
                  agent: echo
                  task: echo
                  depends: [first]
            """;

    @TempDir
    Path directory = Path.of("");

    private final Hub hub = Hub.builder()
            .agents(DemoAgents.all().toArray(Agent[]::new))
            .inMemory()
            .port(0)
            .drain(Duration.ofMillis(200))
            .start();
    private Shell shell = new Shell(directory);

    @BeforeEach
    void begin() throws IOException {
        shell = new Shell(directory).with("A2ACLI_AGENT_CARD", hub.agentUrl("one"));
        Files.writeString(directory.resolve("w.yaml"), YAML);
    }

    @AfterEach
    void end() {
        hub.close();
    }

    @Test
    @DisplayName("ONE36 a workflow in YAML is checked, run, watched, shown, listed and drawn")
    void all() {
        assertThat(ok("workflow", "check", "w.yaml").out()).contains("Order: first, second");
        assertThat(ok("workflow", "graph", "w.yaml", "-o", "dot").out()).contains("s0 -> s1;");

        Ran run = ok("workflow", "run", "w.yaml", "--watch");

        assertThat(run.err()).contains("✓ second  completed  echo: echo  ← first");
        assertThat(run.out()).contains("State: completed", "hello");
        String id = run.out().lines().findFirst().orElseThrow().substring("Workflow-ID: ".length());
        assertThat(ok("workflow", "show", id, "-o", "json").out()).contains("\"result\":{\"second\":\"hello\"}");
        assertThat(ok("workflow", "list").out()).contains(id + "  completed  100 %  2 steps");
        assertThat(ok("workflow", "watch", id).out()).contains("State: completed");
        assertThat(ok("workflow", "graph", id).out()).contains("flowchart TD", "completed");
        shell = new Shell(directory).with("A2ACLI_AGENT_CARD", hub.url());
        assertThat(ok("workflow", "show", id).out())
                .as("by the address of the hub, whose default agent is another one")
                .contains("State: completed");
        assertThat(ok("workflow", "list", "-a", hub.url() + "/").out()).contains(id);
        Ran canceled = shell.run("workflow", "cancel", id);
        assertThat(canceled.status()).isEqualTo(1);
        assertThat(canceled.err()).contains("has ended (COMPLETED)");
    }

    @Test
    @DisplayName("an invalid document is refused with the place of the problem, by check and before a run")
    void invalid() throws IOException {
        Files.writeString(
                directory.resolve("cycle.yaml"), YAML.replace("parameters: {text: hello}", "depends: [second]"));
        Files.writeString(directory.resolve("broken.yaml"), "workflow: [");

        for (String command : List.of("check", "run")) {
            Ran cycle = shell.run("workflow", command, "cycle.yaml");
            assertThat(cycle.status()).isEqualTo(1);
            assertThat(cycle.err()).contains("cycle.yaml: workflow.steps[0].depends", "no cycle");
            assertThat(shell.run("workflow", command, "broken.yaml").err()).contains("broken.yaml: line");
            assertThat(shell.run("workflow", command, "none.yaml").status()).isEqualTo(2);
        }
    }

    @Test
    @DisplayName("the document in YAML of docs/workflows.md is valid")
    void documentation() throws IOException {
        String page = Files.readString(Path.of("../docs/workflows.md"));
        String begin = "```yaml";
        int from = page.indexOf(begin) + begin.length();
        Files.writeString(directory.resolve("sample.yaml"), page.substring(from, page.indexOf("```", from)));

        assertThat(ok("workflow", "check", "sample.yaml").out()).contains("Order: first, second");
    }

    private Ran ok(String... arguments) {
        Ran ran = shell.run(arguments);
        assertThat(ran.status()).as(ran.err()).isZero();
        return ran;
    }
}
