package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The steps of {@code docs/tutorial.md}, from an empty directory, with the launcher and the packaged program. */
@Timeout(240)
@Tag("heavy")
class TutorialIT {
    private static final Path TUTORIAL = Path.of("../docs/tutorial.md").toAbsolutePath();
    private static final Pattern FILE =
            Pattern.compile("`([A-Za-z]+\\.(?:java|json))`[^`]*?\\n\\n```(?:java|json)\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern COMMAND = Pattern.compile("(?m)^parley (.*)$");
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");
    private static final Pattern URL = Pattern.compile("http://127\\.0\\.0\\.1:\\d+");
    private static final Pattern TASK = Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    @TempDir
    private Path directory;

    private PackagedLauncher launcher;
    private final List<Process> servers = new ArrayList<>();

    @BeforeEach
    void begin() throws IOException {
        launcher = new PackagedLauncher(directory);
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (Process server : servers.reversed()) {
            server.destroy();
            assertThat(server.waitFor(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("GEM35 every step of the tutorial runs from an empty directory")
    void steps() throws Exception {
        String tutorial = Files.readString(TUTORIAL);
        Matcher files = FILE.matcher(tutorial);
        while (files.find()) {
            Files.writeString(directory.resolve(files.group(1)), files.group(2));
        }
        List<String> commands =
                COMMAND.matcher(tutorial).results().map(match -> match.group(1)).toList();
        assertThat(commands).hasSize(6);

        String supplier = start(commands.get(0).replace("8081", "0"));
        assertThat(run(commands.get(1).replace("http://127.0.0.1:8081", supplier)))
                .contains("Part #12345: 3 in stock");
        assertThat(run(commands.get(2).replace("http://127.0.0.1:8081", supplier)))
                .containsIgnoringCase("completed");
        String shop =
                start(commands.get(3).replace("http://127.0.0.1:8081", supplier).replace("8080", "0"));
        String question = run(commands.get(4).replace("http://127.0.0.1:8080", shop));
        assertThat(question).contains("Is the area below the platform clear?");
        Matcher task = TASK.matcher(question);
        assertThat(task.find()).as(question).isTrue();
        assertThat(run(commands.get(5).replace("http://127.0.0.1:8080", shop).replace("TASK", task.group())))
                .contains("The platform is at 2 m. Part #12345: 3 in stock");
        assertThat(tools(shop)).contains("mechanic__inspect");
    }

    /** Starts a server and returns the URL that it prints. */
    private String start(String command) throws IOException {
        Process server = process(command).redirectErrorStream(true).start();
        servers.add(server);
        server.getOutputStream().close();
        BufferedReader output = server.inputReader(UTF_8);
        var lines = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            lines.append(line).append('\n');
            Matcher url = URL.matcher(line);
            if (url.find()) {
                Thread.ofVirtual().start(() -> output.lines().forEach(rest -> {}));
                return url.group();
            }
        }
        throw new AssertionError(command + " ended: " + lines);
    }

    private String run(String command) throws IOException, InterruptedException {
        Process process = process(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(command).isTrue();
        return output;
    }

    private ProcessBuilder process(String command) {
        var words = new ArrayList<>(List.of("parley"));
        WORD.matcher(command)
                .results()
                .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
                .forEach(words::add);
        return launcher.process(words);
    }

    private static String tools(String hub) throws IOException, InterruptedException {
        String meta = "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                + "\"io.modelcontextprotocol/clientCapabilities\":{}}";
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(URI.create(hub + "/mcp"))
                                    .header("Content-Type", "application/json")
                                    .header("Accept", "application/json, text/event-stream")
                                    .header("MCP-Protocol-Version", "2026-07-28")
                                    .header("Mcp-Method", "tools/list")
                                    .POST(BodyPublishers.ofString(
                                            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
                                                    + meta + "}}"))
                                    .build(),
                            BodyHandlers.ofString())
                    .body();
        }
    }
}
