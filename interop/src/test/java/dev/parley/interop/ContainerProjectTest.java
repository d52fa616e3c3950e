package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.protocol.Task;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The project of {@code parley init --with docker}. No image is built and no container started: the instructions of the Containerfile are
 * followed in a directory, and its commands run as its user, with the variables of the Compose file. When it is skipped is as with {@link
 * InteropTest}.
 */
@Timeout(600)
final class ContainerProjectTest {
    private static final Pattern COPY = Pattern.compile("COPY (\\S+) (\\S+)");

    @TempDir
    Path directory;

    private Path project;
    private Path root;
    private List<String> instructions;

    @BeforeAll
    static void install() throws IOException {
        OutsideBuild.install();
        ComposeFile.install();
    }

    @Test
    void theCommandsOfTheImageServeTheAgentAndFollowItsHealth() throws Exception {
        build();
        int port = freePort();
        Map<String, String> file = variablesOfFile();
        Map<?, ?> service = service(port, file);
        Map<String, String> environment = environment(service, port);
        List<String> health = command("HEALTHCHECK");
        String key = requireNonNull(file.get("A2ACLI_API_KEY"));

        assertThat(status(health, environment)).as("health before the start").isEqualTo(1);
        String task;
        try (ParleyProgram agent = ParleyProgram.start(process(command("ENTRYPOINT"), environment), "price-list")) {
            assertThat(agent.url()).isEqualTo("http://127.0.0.1:" + port);
            assertThat(status(health, environment)).as("health").isZero();
            try (AgentClient client = AgentClient.builder().apiKey(key).connect(agent.url());
                    AgentClient stranger = AgentClient.connect(agent.url())) {
                Task answered = (Task) client.send("world");
                task = answered.id();
                assertThat(answered.text()).isEqualTo("Hello, world");
                assertThatThrownBy(() -> stranger.send("world")).hasMessageContaining("Authentication required");
            }
        }
        try (ParleyProgram again = ParleyProgram.start(process(command("ENTRYPOINT"), environment), "price-list");
                AgentClient client = AgentClient.builder().apiKey(key).connect(again.url())) {
            assertThat(client.task(task).text()).as("after a restart").isEqualTo("Hello, world");
        }
    }

    @Test
    void theComposeFileKeepsTheDataAndOpensAPortOfThisMachineOnly() throws Exception {
        Map<?, ?> service = service(8080, variablesOfFile());

        assertThat(service.get("read_only")).isEqualTo(true);
        assertThat(service.get("cap_drop")).isEqualTo(List.of("ALL"));
        assertThat(service.containsKey("user"))
                .as("another user than that of the image")
                .isFalse();
        assertThat(String.valueOf(service.get("volumes"))).contains("type=volume", "target=/data");
        assertThat(String.valueOf(service.get("ports"))).contains("host_ip=127.0.0.1", "target=8080", "published=8080");
        assertThat(String.valueOf(service.get("build"))).contains("dockerfile=Containerfile");
        assertThatThrownBy(() -> service(8080, Map.of())).hasMessageContaining("A2ACLI_API_KEY");
    }

    @BeforeEach
    void create() throws Exception {
        OutsideBuild.run(directory, McpHubs.program("init", "price-list", "--with", "docker"));
        project = directory.resolve("price-list");
        root = Files.createDirectory(directory.resolve("root"));
        instructions = Files.readAllLines(project.resolve("Containerfile"));
    }

    /** Follows the instructions of the Containerfile that make files. */
    private void build() throws Exception {
        OutsideBuild.useThisBuild(project.resolve("pom.xml"));
        OutsideBuild.run(project, OutsideBuild.maven("package"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (String instruction : instructions) {
            Matcher copy = COPY.matcher(instruction);
            if (copy.matches()) {
                assertThat(project.resolve(".dockerignore")).content().contains("!" + copy.group(1) + "\n");
                Path source = project.resolve(copy.group(1));
                String name = copy.group(2).endsWith("/") ? copy.group(2) + source.getFileName() : copy.group(2);
                OutsideBuild.copy(source, root.resolve(name.substring(1)));
            }
        }
        Path data = Files.createDirectory(root.resolve("data"));
        if (isRoot()) {
            assertThat(instructions).contains("RUN install -d -o 10001 -g 10001 /data");
            OutsideBuild.run(directory, List.of("chown", "10001:10001", data.toString()));
        }
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    /** The file that {@code docker compose} and {@code parley} read. */
    private Map<String, String> variablesOfFile() throws IOException {
        Matcher key =
                Pattern.compile("A2ACLI_API_KEY=([0-9a-f]{48})\n").matcher(Files.readString(project.resolve(".env")));
        assertThat(key.find()).isTrue();
        return Map.of("A2ACLI_API_KEY", key.group(1));
    }

    private Map<?, ?> service(int port, Map<String, String> file) throws IOException {
        // The reader knows the variables of its caller only.
        Map<String, String> variables = Stream.concat(
                        file.entrySet().stream(), Stream.of(Map.entry("PUBLIC_URL", "http://127.0.0.1:" + port)))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        Map<String, Map<?, ?>> services =
                ComposeFile.read(project.resolve("compose.yaml"), variables).services();
        assertThat(services).containsOnlyKeys("price-list");
        return requireNonNull(services.get("price-list"));
    }

    /** Variables of the image and of the service, at a port of this test. */
    private Map<String, String> environment(Map<?, ?> service, int port) {
        var environment = new HashMap<String, String>();
        Matcher variable = Pattern.compile("([A-Z_]+)=(\\S+)").matcher(line("ENV"));
        while (variable.find()) {
            environment.put(variable.group(1), inRoot(variable.group(2)));
        }
        requireNonNull((Map<?, ?>) service.get("environment"))
                .forEach((name, value) -> environment.put(String.valueOf(name), String.valueOf(value)));
        assertThat(environment).containsEntry("PARLEY_PORT", "8080");
        environment.put("PARLEY_PORT", String.valueOf(port));
        return environment;
    }

    private String line(String instruction) {
        return instructions.stream()
                .filter(line -> line.startsWith(instruction + " "))
                .findFirst()
                .orElseThrow();
    }

    /** The command of an instruction, with the paths of the image below the root of this test, as the user of the image. */
    private List<String> command(String instruction) {
        String line = line(instruction);
        String json = "{\"words\":" + line.substring(line.indexOf('[')) + "}";
        List<?> words = requireNonNull(
                (List<?>) Json.read(json.getBytes(UTF_8), Map.class).get("words"));
        assertThat(words.getFirst()).isEqualTo("java");
        var command = new ArrayList<String>();
        if (isRoot()) {
            String user = line("USER").substring("USER ".length()).replaceFirst(":.*", "");
            command.addAll(List.of("setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups"));
        }
        command.add(OutsideBuild.java());
        words.stream().skip(1).map(word -> inRoot(String.valueOf(word))).forEach(command::add);
        return command;
    }

    private String inRoot(String word) {
        return word.matches("/(app|data)(/.*)?") ? root + word : word;
    }

    private ProcessBuilder process(List<String> command, Map<String, String> environment) {
        var builder = new ProcessBuilder(command)
                .directory(root.resolve("data").toFile())
                .redirectError(directory.resolve("agent.log").toFile());
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/bin:/bin");
        builder.environment().putAll(environment);
        return builder;
    }

    private int status(List<String> command, Map<String, String> environment) throws Exception {
        Process process = process(command, environment)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return process.exitValue();
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
