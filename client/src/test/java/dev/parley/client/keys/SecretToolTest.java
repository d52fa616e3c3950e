package dev.parley.client.keys;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.parley.client.spi.ClientException;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The keyring of GNOME, unlocked, on a message bus of its own.
 *
 * <p>Skipped where the programs are not installed (Debian: gnome-keyring, dbus, libsecret-tools), unless the system
 * property {@code parley.interop.required} is {@code true}.
 */
class SecretToolTest extends KeyringContract {
    @TempDir
    static Path home;

    private static Map<String, String> environment = Map.of();
    private static @Nullable Process bus;
    private static @Nullable Process daemon;

    @BeforeAll
    static void start() throws IOException {
        for (String program : List.of("dbus-daemon", "gnome-keyring-daemon", "secret-tool")) {
            if (!isInstalled(program)) {
                String message = program + " is not installed, so there is no keyring to test with";
                if (Boolean.getBoolean("parley.interop.required")) {
                    fail(message);
                }
                abort(message);
            }
        }
        var variables = new HashMap<String, String>();
        for (String name : List.of("HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")) {
            variables.put(name, home.toString());
        }
        bus = start(variables, "dbus-daemon", "--session", "--nofork", "--print-address", "--address=unix:dir=" + home);
        variables.put("DBUS_SESSION_BUS_ADDRESS", requireNonNull(reader(bus).readLine()));
        daemon = start(variables, "gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets");
        try (var in = daemon.getOutputStream()) {
            in.write("password of the test".getBytes(UTF_8));
        }
        while (reader(daemon).readLine() != null) {
            // It closes its output when it is ready.
        }
        environment = variables;
    }

    private static boolean isInstalled(String program) {
        return List.of(System.getenv("PATH").split(":", -1)).stream()
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    private static Process start(Map<String, String> variables, String... command) throws IOException {
        var builder = new ProcessBuilder(command).redirectError(Redirect.DISCARD);
        builder.environment().putAll(variables);
        return builder.start();
    }

    private static BufferedReader reader(Process process) {
        return process.inputReader(UTF_8);
    }

    @AfterAll
    static void stop() throws InterruptedException {
        for (Process process : new @Nullable Process[] {daemon, bus}) {
            if (process != null) {
                process.destroy();
                process.waitFor();
            }
        }
    }

    @Override
    Keyring keyring() {
        return new SecretTool(new Subprocess(environment));
    }

    @Test
    void withoutAMessageBusItSaysSo() {
        var lonely = new SecretTool(new Subprocess(Map.of("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")));

        assertThatThrownBy(() -> lonely.read("s", "u"))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("the keyring cannot be read");
        assertThatThrownBy(() -> lonely.write("s", "u", "s3cret"))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("the keyring cannot be written")
                .hasMessageNotContaining("s3cret");
    }
}
