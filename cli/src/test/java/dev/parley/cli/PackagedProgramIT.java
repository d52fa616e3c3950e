package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.lang.module.ModuleDescriptor;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program as it is shipped, in processes of its own: what tests within one process cannot see. */
@Timeout(300)
@Tag("heavy")
class PackagedProgramIT {
    private static final Path JAR = Path.of(System.getProperty("parley.program"));
    /** What a shell reports for a process that SIGTERM has ended. */
    private static final int TERMINATED = 128 + 15;

    private static final Pattern LIBRARY = Pattern.compile("lib/(.+?)-([0-9][0-9.]*)(-[a-z]+)?\\.jar");

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
    @DisplayName("T6: no library of the program is older than the fix of a published advisory")
    void librariesHaveNoPublishedFaults() throws IOException {
        var fixes = new Properties();
        try (Reader in = Files.newBufferedReader(Path.of("src/test/resources/dev/parley/cli/advisories.properties"))) {
            fixes.load(in);
        }
        List<String> libraries;
        try (var jar = new JarFile(JAR.toFile())) {
            String classPath = jar.getManifest().getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
            libraries = List.of(classPath.split(" "));
        }

        var faulty = new ArrayList<String>();
        int reviewed = 0;
        for (String library : libraries) {
            Matcher name = LIBRARY.matcher(library);
            String fix = name.matches() ? fixes.getProperty(name.group(1)) : null;
            if (fix != null) {
                reviewed++;
                String fixed = fix.substring(0, fix.indexOf(' '));
                if (ModuleDescriptor.Version.parse(name.group(2)).compareTo(ModuleDescriptor.Version.parse(fixed))
                        < 0) {
                    faulty.add(library + " (expected: " + fix + ")");
                }
            }
        }

        assertThat(faulty).isEmpty();
        assertThat(reviewed).as("libraries with a line in the list").isGreaterThan(15);
    }

    /** Answer of the hub to a client of MCP that begins. */
    private static String initialized(String url) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(BodyPublishers.ofString("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
                        + "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                        + "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}"))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
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
            String version = run("--version").out().strip().replace("parley ", "");

            assertThat(initialized(url + "/mcp")).contains("\"version\":\"" + version + "\"");
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

    @Test
    @DisplayName("GEM27: one line of the log has the ids of task, context, message and trace, and no secret")
    void linesOfTheLogTellOfWhatTheyAre() throws Exception {
        File err = file();
        ProcessBuilder command =
                command("up", "--port", "0", "--in-memory", "--log-format", "json", "--verbose", "--auth", "apiKey");
        command.environment().put("PARLEY_CALLER_ALICE_API_KEY", "the-key-of-alice-1234");
        Process hub = command.redirectError(err).start();
        try (BufferedReader announcement = hub.inputReader()) {
            String url = field("URL", announcement);

            var request = HttpRequest.newBuilder(URI.create(url + "/agents/echo/message:send"))
                    .header("X-Api-Key", "the-key-of-alice-1234")
                    .header("Content-Type", "application/json")
                    .header("A2A-Version", "1.0")
                    .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                    .POST(BodyPublishers.ofString("{\"message\":{\"messageId\":\"m-1\",\"contextId\":\"c-1\","
                            + "\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"a-secret-of-mine\"}]}}"))
                    .build();
            String answer = HttpClient.newHttpClient()
                    .send(request, BodyHandlers.ofString())
                    .body();
            hub.destroy();
            assertThat(hub.waitFor(30, TimeUnit.SECONDS)).isTrue();

            List<String> lines = Files.readAllLines(err.toPath());
            assertThat(lines)
                    .allSatisfy(line -> assertThat(Json.read(line.getBytes(StandardCharsets.UTF_8), Object.class))
                            .asInstanceOf(InstanceOfAssertFactories.MAP)
                            .containsKeys("time", "level", "logger", "message"));
            assertThat(lines)
                    .filteredOn(line -> line.contains("SendMessage of echo for alice: answered"))
                    .singleElement()
                    .satisfies(line -> assertThat(Json.read(line.getBytes(StandardCharsets.UTF_8), Object.class))
                            .asInstanceOf(InstanceOfAssertFactories.MAP)
                            .containsEntry("context", "c-1")
                            .containsEntry("messageId", "m-1")
                            .containsEntry("trace", "0af7651916cd43dd8448eb211c80319c")
                            .hasEntrySatisfying("task", id -> assertThat(answer).contains("\"id\":\"" + id + '"')));
            assertThat(String.join("\n", lines)).doesNotContain("a-secret-of-mine", "the-key-of-alice");
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
