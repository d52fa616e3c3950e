package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
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

        Ran run = ok("workflow", "run", "w.yaml");

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
    @DisplayName("M4 a definition is saved, listed, shown, run by name with inputs, repeated and deleted")
    void definitions() throws IOException {
        String definition = "name: greeting\n"
                + "inputs:\n"
                + "  properties:\n"
                + "    who: {type: string}\n"
                + "    times: {type: integer, default: 1}\n"
                + "  required: [who]\n"
                + YAML.replace("coordinator: lead\n", "").replace("hello", "'${input.who} ${input.times}'");
        Files.writeString(directory.resolve("g.yaml"), definition);

        assertThat(ok("workflow", "check", "g.yaml").out()).contains("Order: first, second");
        assertThat(ok("workflow", "save", "g.yaml").out()).contains("Name: greeting", "Version: 1");
        assertThat(ok("workflow", "list").out()).contains("greeting  definition  version 1  2 steps");
        assertThat(ok("workflow", "show", "greeting").out()).contains("${input.who}");
        Ran run = ok("workflow", "run", "greeting", "--input", "who=ann", "--input", "times=2");
        assertThat(run.out()).contains("State: completed", "Definition: greeting version 1", "ann 2");
        String id = run.out().lines().findFirst().orElseThrow().substring("Workflow-ID: ".length());
        assertThat(ok("workflow", "repeat", id).out()).contains("Repeats: " + id, "ann 2");
        assertThat(ok("workflow", "run", "g.yaml", "--inputs", "{\"who\":\"bob\"}")
                        .out())
                .contains("bob 1");
        assertThat(shell.run("workflow", "run", "greeting").err()).contains("inputs.who");
        assertThat(shell.run("workflow", "run", "greeting", "--input", "times=many")
                        .status())
                .isEqualTo(2);
        assertThat(shell.run("workflow", "resume", id).err()).contains("expected: failed or canceled");
        assertThat(ok("workflow", "save", "w.yaml", "--name", "greeting").out()).contains("Version: 2");
        assertThat(ok("workflow", "delete", "greeting", "--version", "1").status())
                .isZero();
        ok("workflow", "delete", "greeting");
        assertThat(shell.run("workflow", "show", "greeting").status()).isEqualTo(1);
    }

    @Test
    @DisplayName("M13 run waits for the end, with status 1 if the run fails; --async does not; -a names the hub in each"
            + " command")
    void waiting() throws IOException {
        Files.writeString(
                directory.resolve("bad.yaml"),
                YAML.replace("text: hello", "text: '${second.data.x}'").replace("depends: [first]", ""));
        Ran failed = shell.run("workflow", "run", "bad.yaml");
        assertThat(failed.status()).isEqualTo(1);
        assertThat(failed.out()).contains("State: failed", "workflow.steps[0].parameters.text");

        shell = new Shell(directory);
        String host = hub.url().replace("http://", "");
        Ran begun = ok("workflow", "run", "w.yaml", "--async", "-a", hub.url());
        String id = begun.out().lines().findFirst().orElseThrow().substring("Workflow-ID: ".length());
        for (String at : List.of(hub.url(), hub.url() + "/", hub.url() + "/one", host)) {
            assertThat(ok("workflow", "watch", id, "-a", at).out()).contains("State: completed");
        }
        assertThat(ok("workflow", "save", "w.yaml", "--name", "n", "-a", host).out())
                .contains("Version: 1");
        assertThat(ok("workflow", "run", "n", "-a", host).out()).contains("hello");
        assertThat(ok("workflow", "list", "-a", host).out()).contains("n  definition", id);
        assertThat(ok("workflow", "repeat", id, "-a", host).out()).contains("hello");
        assertThat(ok("workflow", "graph", id, "-a", host).out()).contains("flowchart");
        assertThat(ok("workflow", "delete", "n", "-a", host).status()).isZero();
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
    @DisplayName("ONE16 a document is checked by the hub as well, with its agents")
    void checkedByTheHub() throws IOException {
        Files.writeString(directory.resolve("known.yaml"), YAML);
        Files.writeString(directory.resolve("unknown.yaml"), YAML.replace("agent: echo", "agent: nobody"));

        assertThat(ok("workflow", "check", "known.yaml", "--hub", "-a", hub.url())
                        .out())
                .contains("Order: first, second");
        assertThat(ok("workflow", "check", "unknown.yaml").status()).isZero();
        Ran refused = shell.run("workflow", "check", "unknown.yaml", "--hub", "-a", hub.url());
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).contains("unknown.yaml: workflow.steps[0].agent", "nobody");
    }

    @Test
    @DisplayName("AK25 votes are listed, and ballots cast")
    void votes() throws Exception {
        HttpResponse<String> begun = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(hub.url() + "/one/votes"))
                                .header("Content-Type", "application/json")
                                .POST(
                                        BodyPublishers.ofString(
                                                "{\"vote\":{\"question\":\"Which?\",\"options\":[\"red\",\"blue\"],\"voters\":[\"ann\"]}}"))
                                .build(),
                        BodyHandlers.ofString());
        assertThat(begun.statusCode()).as(begun.body()).isEqualTo(200);

        String line = ok("workflow", "votes", "--waiting", "-a", hub.url()).out();
        assertThat(line).contains("input-required  0 of 1 ballots  Which?  red | blue");
        String id = line.substring(0, line.indexOf(' '));
        assertThat(ok("workflow", "vote", id, "red", "--voter", "ann", "-a", hub.url())
                        .out())
                .contains("completed  1 of 1");
        assertThat(ok("workflow", "votes", "--waiting", "-a", hub.url()).out()).isEmpty();
        assertThat(ok("workflow", "votes", "-o", "json", "-a", hub.url()).out()).contains("\"winner\":\"red\"");
        assertThat(shell.run("workflow", "vote", id, "green", "--voter", "ann", "-a", hub.url())
                        .err())
                .contains("green");
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
