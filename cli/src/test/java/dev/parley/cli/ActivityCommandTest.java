package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.cli.Shell.Ran;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley tasks}, {@code parley task history} and {@code parley watch} against a hub. */
@Timeout(120)
final class ActivityCommandTest {
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
    void begin() {
        shell = new Shell(directory).with("A2ACLI_AGENT_CARD", hub.url());
    }

    @AfterEach
    void end() {
        hub.close();
    }

    private Ran ok(String... args) {
        Ran ran = shell.run(args);
        assertThat(ran.status()).as(ran.out() + ran.err()).isZero();
        return ran;
    }

    @Test
    void tasksAreListedCountedAndFollowed() {
        assertThat(ok("send", "-a", hub.agentUrl("echo"), "hello").out()).contains("hello");

        String line = ok("tasks").out();
        assertThat(line).contains("completed  echo", "hello");
        String id = line.substring(0, line.indexOf(' '));
        assertThat(ok("tasks", "--of-agent", "echo", "--status", "completed", "--search", "HELLO", "-o", "json")
                        .out())
                .startsWith("{\"taskId\":\"" + id + '"');
        assertThat(ok("tasks", "--status", "failed").out()).isEmpty();
        assertThat(ok("tasks", "--counts").out()).contains("completed: 1", "echo: 1 completed");
        assertThat(ok("task", "history", id).out()).startsWith("1  20").contains("task", "hello");
        assertThat(ok("trace", id).out()).startsWith("echo  completed  ").contains(" ms  " + id + "  hello");
        assertThat(ok("trace", id, "-o", "json").out()).contains("\"spans\":[{\"id\":\"" + id + '"');
        assertThat(shell.run("trace", "unknown").err()).contains("Trace not found: unknown");
        assertThat(ok("watch", "--after", "0", "--most", "1", "--task", id).out())
                .contains("  1  echo  " + id);
        assertThat(shell.run("tasks", "--status", "busy").err()).contains("busy");
        assertThat(shell.run("tasks", "--group", "*").status()).isNotZero();
        assertThat(shell.run("task", "history", "unknown").err())
                .contains("Task not found: unknown", "list the tasks: parley tasks");
    }
}
