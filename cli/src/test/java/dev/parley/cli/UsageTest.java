package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.output.CliEnvironment;
import dev.parley.cli.output.Interruption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Help, versions, completion, and what is said about a command line that makes no sense. */
class UsageTest {
    @TempDir
    Path directory;

    private Shell shell;

    @BeforeEach
    void start() {
        shell = new Shell(directory);
    }

    @Test
    void anUnknownOptionIsNamedWithTheNearestOne() {
        Shell.Ran ran = shell.run("send", "--ouptut", "json", "hello");

        assertThat(ran.status()).isEqualTo(2);
        assertThat(ran.err())
                .startsWith("Error: unknown option --ouptut (A2ACLI_ERR_USAGE)\nHint: did you mean --output?");
        assertThat(ran.out()).isEmpty();
    }

    @Test
    void anUnknownCommandIsNamedWithTheNearestOne() {
        assertThat(shell.run("snd", "hello").err())
                .contains("unknown command snd")
                .contains("did you mean send?");
        assertThat(shell.run("task", "gte").err()).contains("did you mean get?");
        assertThat(shell.run("help", "tasl").err()).contains("did you mean task?");
    }

    @Test
    void aWordThatResemblesNothingIsAnsweredWithoutAFarFetchedSuggestion() {
        assertThat(shell.run("up", "--bogus").err())
                .endsWith("Hint: parley up --help lists its arguments\n")
                .doesNotContain("did you mean");
        assertThat(shell.run("nonsense").err())
                .endsWith("Hint: parley --help lists them\n")
                .doesNotContain("did you mean");
        assertThat(shell.run("help", "nonsense").err()).endsWith("Hint: parley help\n");
    }

    @Test
    void aDirectoryInPlaceOfASourceFileIsCalledOne() throws IOException {
        Files.createDirectory(directory.resolve("hello"));

        assertThat(shell.run("run", "hello").err())
                .startsWith("Error: source file \"hello\": is a directory (expected: a file such as Hello.java)");
    }

    @Test
    @DisplayName("M13: one flag names the hub or the agent in every command")
    void oneFlagNamesHubOrAgent() {
        for (String command : List.of(
                "user list",
                "key list",
                "audit tail",
                "privacy erase --subject x --yes",
                "agent list",
                "discover translate",
                "gateway list",
                "mcp servers",
                "report usage",
                "kg reviews list",
                "send hello",
                "task list",
                "workflow run x.yaml")) {
            for (String flag : List.of("-a=", "--agent-card=")) {
                Shell.Ran ran = shell.run((command + " " + flag + "http://127.0.0.1:1").split(" ", -1));

                assertThat(ran.err()).as(command).doesNotContain("unknown option", "7420");
            }
        }
        for (String flag : List.of("-a", "--url", "--agent-card")) {
            for (String hub : List.of("http://127.0.0.1:1", "127.0.0.1:1", "localhost:1/")) {
                Shell.Ran ran = shell.run("user", "list", flag, hub);

                assertThat(ran.status()).as(flag + hub).isEqualTo(3);
                assertThat(ran.err()).startsWith("Error: cannot reach http://").contains(":1: connection refused");
            }
        }
        assertThat(shell.run("user", "list", "-a", "http://127.0.0.1:1", "--url", "http://127.0.0.1:2")
                        .status())
                .isEqualTo(2);
    }

    @Test
    @DisplayName("an option without an effect on a command is refused")
    void optionsWithoutEffectAreRefused() {
        for (String command : List.of(
                "user list --timeout 5s",
                "agent list --task-id t",
                "discover x --async",
                "kg query x --task-id t --context-id c --poll-interval 1s",
                "gateway list --stream",
                "one send x --wait",
                "audit tail --transport grpc",
                "doctor --insecure",
                "--timeout 5s user list",
                "--task-id t discover x")) {
            Shell.Ran ran = shell.run(command.split(" ", -1));

            assertThat(ran.status()).as(command + ran.err()).isEqualTo(2);
            assertThat(ran.err()).as(command).startsWith("Error: ").contains("--help lists");
        }
    }

    @Test
    void evenAMisreadCommandLineIsAnsweredInJson() {
        assertThat(shell.run("send", "-o", "json", "--nonsense").out())
                .startsWith("{\"error\":{\"code\":\"A2ACLI_ERR_USAGE\",\"message\":\"unknown option --nonsense\"");
        assertThat(shell.run("send", "--nonsense", "-ojson").out()).startsWith("{\"error\"");
        assertThat(shell.run("send", "--nonsense", "--output=json").out()).startsWith("{\"error\"");
        assertThat(shell.with("A2ACLI_OUTPUT", "json").run("send", "--nonsense").out())
                .startsWith("{\"error\"");
    }

    @Test
    void aWordThatOnlyLeadsToCommandsSaysWhich() {
        Shell.Ran ran = shell.run("task");

        assertThat(ran.status()).isEqualTo(2);
        assertThat(ran.err())
                .contains("Usage: parley task")
                .contains("subscribe    Follow the events of a task.")
                .contains("no command given")
                .contains("parley task --help");
        assertThat(shell.run().err()).contains("Start a hub here").doesNotContain("--agent-card");
    }

    @Test
    void anArgumentThatIsMissingIsNamed() {
        assertThat(shell.run("task", "push-config", "get", "t1").err()).contains("CONFIG-ID");
        assertThat(shell.run("task", "get").err()).contains("expected: TASK-ID");
    }

    @Test
    @Tag("A2ACLI_CLI_001")
    void helpGoesToStandardOutputWithTheDefaults() {
        Shell.Ran general = shell.run("--help");
        Shell.Ran asked = shell.run("help", "task", "get");
        Shell.Ran flag = shell.run("task", "get", "--help");

        assertThat(general.out())
                .contains("Commands:")
                .contains("Default: text.")
                .contains("Default: 2s.");
        assertThat(general.status()).isZero();
        assertThat(general.out().indexOf("Commands:")).isLessThan(general.out().indexOf("--agent-card"));
        assertThat(general.out()).doesNotContain("warm-up");
        assertThat(asked.out()).isEqualTo(flag.out()).contains("--history");
        assertThat(general.out() + asked.out()).doesNotContain("\u001b");
    }

    @Test
    void helpNamesEveryBinding() {
        assertThat(List.of(shell.run("--help"), shell.run("send", "--help"), shell.run("task", "get", "--help")))
                .extracting(Shell.Ran::out)
                .allSatisfy(help -> assertThat(help).contains("JSONRPC, HTTP+JSON, GRPC"));
    }

    @Test
    @Tag("A2ACLI_CLI_001")
    void theVersionIsOneLine() {
        assertThat(shell.run("-v").out()).matches("parley \\S+\n");
        assertThat(shell.run("--version").status()).isZero();
    }

    @Test
    void aConfiguredFlagCanBeTakenBack() {
        Shell.Ran ran = shell.with("A2ACLI_VERBOSE", "true").run("config", "show", "--verbose=false");

        assertThat(ran.out()).contains("verbose: false (flag)");
    }

    @Test
    void optionsMayStandBeforeTheCommand() {
        assertThat(shell.run("--timeout", "5s", "config", "show").out()).contains("timeout: 5s (flag)");
    }

    @Test
    @Tag("A2ACLI_CLI_002")
    void completionIsAScriptThatBashReads() throws IOException, InterruptedException {
        Shell.Ran ran = shell.run("completion", "bash");
        Path script = Files.writeString(directory.resolve("completion"), ran.out());

        var bash = new ProcessBuilder("bash", "-n", script.toString()).start();

        assertThat(bash.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(bash.exitValue()).isZero();
        assertThat(ran.out()).contains("push-config").contains("--agent-card");
        assertThat(shell.run("completion", "tcsh").status()).isEqualTo(2);
    }

    @Test
    void completionForFishHasCommandsWithTheirSummariesAndOptions() {
        String script = shell.run("completion", "fish").out();

        assertThat(script)
                .contains("complete -c parley -f -n '__parley_at task push-config' -a create -d 'Register a webhook'\n")
                .contains(
                        "complete -c parley -n '__parley_in up' -l port -x -d 'Port to listen on; 0 takes a free one'\n")
                .contains("complete -c parley -n '__parley_in up' -l in-memory -d 'Keep tasks in memory only;")
                .doesNotContain("warm-up");
    }

    @Test
    void aReaderThatLeavesIsNoFailure() {
        var err = new java.io.ByteArrayOutputStream();
        var out = new java.io.PrintStream(
                new java.io.OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("Broken pipe");
                    }
                },
                true,
                java.nio.charset.StandardCharsets.UTF_8);
        var around = new CliEnvironment(
                System.in,
                out,
                new java.io.PrintStream(err, true, java.nio.charset.StandardCharsets.UTF_8),
                java.util.Map.of(),
                directory,
                directory,
                new Interruption(),
                false);

        int status = Main.run(around, "--help");

        assertThat(status).isZero();
        assertThat(err.size()).isZero();
    }
}
