package dev.parley.cli.postgresql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The unit of systemd in {@code deploy/}: systemd's own check of it, and its command with the files that it names. That the sandbox of
 * the unit lets a hub run needs a machine that systemd has started, and is not tested.
 */
@Tag("heavy")
@Timeout(300)
final class SystemdUnitTest {
    private static final Path UNIT = Path.of("..", "deploy", "systemd", "parley@.service");
    private static final List<String> SECRETS = List.of("token.secret", "webhook.master", "encryption.key");

    @TempDir
    private Path directory;

    @Test
    void systemdFindsNothingAmiss() throws Exception {
        Files.copy(UNIT, directory.resolve("parley@.service"));
        Process process = new ProcessBuilder("systemd-analyze", "verify", "--man=no", "parley@hub1.service")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);

        assertThat(process.waitFor()).isZero();
        assertThat(output).isEmpty(); // unknown keys and values are warnings
    }

    @Test
    void theCommandStartsAHubThatSharesItsDatabase() throws Exception {
        int port = DebianPostgresql.freePort();
        Path first = directory.resolve("first");
        try (DatabaseServer database = DatabaseServer.primary();
                HubProcess working =
                        HubProcess.share(first, first.resolve("data"), database.url(), DebianPostgresql.freePort())) {
            Eventually.holds(
                    "a hub has the secrets: " + working.log(),
                    () -> SECRETS.stream()
                                    .allMatch(name ->
                                            Files.exists(first.resolve("data").resolve(name)))
                            && streams(database) == 1);
            Path credentials = Files.createDirectory(directory.resolve("credentials"));
            for (String name : SECRETS) {
                Files.copy(first.resolve("data").resolve(name), credentials.resolve(name));
            }
            Files.writeString(credentials.resolve("database.url"), database.url() + "\n");
            Files.writeString(directory.resolve("hub1.yaml"), settings(port));

            Path log = directory.resolve("log");
            Process hub = hub(credentials, log);
            try {
                HubCalls calls = new HubCalls("http://127.0.0.1:" + port);
                Eventually.value(
                        "the hub works: " + log,
                        () -> Files.readString(log) + calls.get("/ready").body(),
                        text -> text.contains("{\"status\":\"ready\"}"));
                assertThat(streams(database)).as("both hubs work").isEqualTo(2);
            } finally {
                hub.destroy();
            }
            assertThat(hub.waitFor()).isIn(0, 143);
        }
    }

    private static long streams(DatabaseServer database) throws Exception {
        return database.number("SELECT count(*) FROM pg_tables WHERE tablename = 'stream'") == 0
                ? 0
                : database.number("SELECT count(*) FROM stream");
    }

    /** Returns the settings in the head of the unit, with another port. */
    private static String settings(int port) throws IOException {
        String settings = Files.readString(UNIT)
                .lines()
                .filter(line -> line.matches("#       [a-z-]+: .*"))
                .map(line -> line.substring(1).strip() + "\n")
                .collect(Collectors.joining());
        assertThat(settings).contains("port: 7420\n", "trusted-proxy: ", "drain: ");
        return settings.replace("port: 7420", "port: " + port);
    }

    private Process hub(Path credentials, Path log) throws IOException {
        String command = Files.readString(UNIT)
                .lines()
                .filter(line -> line.startsWith("ExecStart=/bin/sh -c '"))
                .findFirst()
                .orElseThrow();
        command = command.substring(command.indexOf('\'') + 1, command.lastIndexOf('\''));
        Path state = directory.resolve("state");
        Files.createDirectories(state.resolve("parley/hub1"));
        String program = Path.of(System.getProperty("java.home"), "bin", "java") + " -XX:TieredStopAtLevel=1 -cp '"
                + System.getProperty("java.class.path") + "' dev.parley.cli.Main";
        for (Map.Entry<String, String> change : Map.of(
                        "$$",
                        "$",
                        "%d",
                        credentials.toString(),
                        "%i",
                        "hub1",
                        "%S",
                        state.toString(),
                        "/etc/parley/",
                        directory + "/")
                .entrySet()) {
            assertThat(command).contains(change.getKey());
            command = command.replace(change.getKey(), change.getValue());
        }
        int begin = command.indexOf("/usr/bin/java");
        int end = command.indexOf("/opt/parley/parley.jar") + "/opt/parley/parley.jar".length();
        command = command.substring(0, begin) + program + command.substring(end);
        var builder = new ProcessBuilder("sh", "-c", command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().keySet().removeIf(name -> name.matches("(A2ACLI|PARLEY|JAVA)_.*|JDK_JAVA_OPTIONS"));
        builder.environment().put("PARLEY_SECRETS", credentials.toString());
        return builder.start();
    }
}
