package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program as it is shipped, in processes of its own: what tests within one process cannot see. */
@Timeout(90)
class PackagedProgramIT {
    private static final Path JAR =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("target/parley/parley.jar");
    /** What a shell reports for a process that SIGTERM has ended. */
    private static final int TERMINATED = 128 + 15;

    private record Ran(int status, String out, String err) {}

    @TempDir
    Path directory;

    private int count;

    private ProcessBuilder command(String... args) {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        var line = new ArrayList<>(List.of(
                java.toString(), "-XX:TieredStopAtLevel=1", "-Duser.home=" + directory, "-jar", JAR.toString()));
        line.addAll(List.of(args));
        var command = new ProcessBuilder(line).directory(directory.toFile());
        command.environment().keySet().removeIf(name -> name.matches("(A2ACLI|PARLEY|JAVA)_.*|JDK_JAVA_OPTIONS"));
        return command;
    }

    private Ran run(String... args) throws IOException, InterruptedException {
        File err = file();
        Process process = command(args).redirectError(err).start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return new Ran(process.exitValue(), out, Files.readString(err.toPath()));
    }

    private File file() {
        return directory.resolve("stream-" + ++count).toFile();
    }

    @Test
    void itKnowsItsVersionAndItsCommands() throws Exception {
        Ran version = run("--version");
        Ran help = run("--help");
        Ran wrong = run("snd", "hello");

        assertThat(version.out()).matches("parley \\d+\\.\\d+\\.\\d+\\S*\n");
        assertThat(help.out()).contains("Usage: parley", "send", "task", "up");
        assertThat(List.of(version, help)).allSatisfy(ran -> {
            assertThat(ran.status()).isZero();
            assertThat(ran.err()).isEmpty();
        });
        assertThat(wrong.status()).isEqualTo(2);
        assertThat(wrong.out()).isEmpty();
        assertThat(wrong.err()).contains("did you mean send?");
    }

    @Test
    void aHubIsStartedCalledAndStoppedBySigterm() throws Exception {
        File err = file();
        Process hub = command("up", "--port", "0", "--data", "data")
                .redirectError(err)
                .start();
        try (BufferedReader announcement = hub.inputReader()) {
            String url = field("URL", announcement);
            String echo = url + "/agents/echo";

            Ran card = run("card", "get", "-a", echo);
            Ran sent = run("send", "-a", echo, "hello");
            Ran got = run("task", "get", "-a", echo, field("Task-ID", sent.out()), "-o", "json");
            Ran waiting = interrupted(url + "/agents/counter");

            assertThat(card.out()).contains("Name: echo\n");
            assertThat(sent.out()).contains("State: TASK_STATE_COMPLETED\n", "Text:\n  hello\n\n");
            assertThat(got.out())
                    .startsWith("{\"id\":\"")
                    .contains("TASK_STATE_COMPLETED")
                    .hasLineCount(1);
            assertThat(sent.err()).isEqualTo("Task-ID: " + field("Task-ID", sent.out()) + "\n");
            assertThat(card.err() + got.err()).isEmpty();
            assertThat(List.of(card.status(), sent.status(), got.status())).containsOnly(0);
            assertThat(waiting.status()).isEqualTo(TERMINATED);
            assertThat(waiting.out()).contains("State: TASK_STATE_WORKING\n", "Poll: parley task get --wait ");

            hub.destroy();

            assertThat(hub.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(hub.exitValue()).isZero();
            assertThat(Files.readString(err.toPath())).contains("stopped").doesNotContain("Exception");
            assertThat(run("card", "get", "-a", url).status()).isEqualTo(3);
        } finally {
            hub.destroyForcibly();
        }
    }

    /** A wait for a task that takes long, ended by SIGTERM once it has told which task that is. */
    private Ran interrupted(String agent) throws IOException, InterruptedException {
        File out = file();
        Process waiting =
                command("send", "-a", agent, "10000").redirectOutput(out).start();
        try (BufferedReader told = waiting.errorReader()) {
            field("Task-ID", told);
            waiting.destroy();
            assertThat(waiting.waitFor(30, TimeUnit.SECONDS)).isTrue();
            return new Ran(waiting.exitValue(), Files.readString(out.toPath()), "");
        } finally {
            waiting.destroyForcibly();
        }
    }

    private static String field(String label, BufferedReader lines) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(label + ": ")) {
                return line.substring(label.length() + 2);
            }
        }
        throw new IOException("no " + label);
    }

    private static String field(String label, String text) throws IOException {
        try (var lines = new BufferedReader(new StringReader(text))) {
            return field(label, lines);
        }
    }
}
