package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class TaskListCommandTest {
    @TempDir
    private Path directory;

    private Hub hub() {
        return Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .drain(Duration.ZERO)
                .agents(
                        Agent.named("asker", "Asks").handle((request, reply) -> reply.askForInput("what?")),
                        Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text())))
                .start();
    }

    private Shell.Ran list(String... more) {
        String[] words = new String[4 + more.length];
        System.arraycopy(new String[] {"task", "list", "--data", "data"}, 0, words, 0, 4);
        System.arraycopy(more, 0, words, 4, more.length);
        return new Shell(directory).run(words);
    }

    private void send(Hub hub, String agent) {
        Shell.Ran sent = new Shell(directory).run("send", "-a", hub.agentUrl(agent), "s3cret words");
        assertThat(sent.status()).as(sent.err()).isZero();
    }

    @Test
    void tasksOfADirectoryAreListedBesideItsHubAndWithoutIt() {
        try (Hub hub = hub()) {
            send(hub, "asker");
            send(hub, "echo");

            Shell.Ran beside = list();

            assertThat(beside.status()).as(beside.err()).isZero();
            assertThat(beside.out().lines().filter(line -> line.startsWith("Agent")))
                    .as("the newest first")
                    .containsExactly("Agent: echo", "Agent: asker");
            assertThat(beside.out()).contains("TASK_STATE_INPUT_REQUIRED").doesNotContain("s3cret");
            send(hub, "echo"); // the hub goes on writing
        }

        Shell.Ran after = list("-o", "json", "--status", "completed", "--page-size", "1");
        assertThat(after.status()).as(after.err()).isZero();
        String next = after.out().replaceFirst("(?s).*\"nextPageToken\":\"([^\"]+)\".*", "$1");
        assertThat(list("-o", "json", "--status", "completed", "--page-token", next)
                        .out())
                .contains("\"agent\":\"echo\"", "\"nextPageToken\":\"\"")
                .doesNotContain(next);
        assertThat(list("--of-agent", "asker").out()).contains("Agent: asker").doesNotContain("Agent: echo");
        assertThat(list("--group", "none").out()).doesNotContain("Agent:");
        hub().close(); // nothing of the directory is held
    }

    @Test
    void optionsThatDoNotFitAreRefused() {
        assertThat(list().status()).as("no such directory").isEqualTo(2);
        assertThat(list("--include-artifacts").status()).isEqualTo(2);
        assertThat(new Shell(directory)
                        .run("task", "list", "--of-agent", "echo")
                        .status())
                .isEqualTo(2);
    }

    @Test
    void aDirectoryThatAHubHasOpenIsNoInternalError() {
        try (Hub hub = hub()) {
            Shell shell = new Shell(directory);

            Shell.Ran up = shell.run("up", "--port", "0", "--data", "data");
            Shell.Ran members = shell.run("group", "list", "--data", "data");

            for (Shell.Ran refused : List.of(up, members)) {
                assertThat(refused.status()).isEqualTo(1);
                assertThat(refused.err()).contains("is in use by another hub", "(PARLEY_ERR_DATA_IN_USE)");
            }
        }
    }

    @Test
    void aDirectoryThatIsMissingIsAUsageErrorOfEveryCommandThatReadsIt() {
        Shell shell = new Shell(directory);
        for (String command :
                List.of("doctor", "task list", "push secret", "audit verify", "audit tail", "audit query")) {
            Shell.Ran ran = shell.run((command + " --data missing").split(" ", -1));

            assertThat(ran.status()).as(command).isEqualTo(2);
            assertThat(ran.err())
                    .as(command)
                    .contains("not a directory (expected: the data directory of a hub)", "(A2ACLI_ERR_USAGE)");
        }
        assertThat(directory.resolve("missing")).doesNotExist();
    }
}
