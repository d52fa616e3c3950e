package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Settings that name agents of the gateway, at a hub whose directory has not named the database yet. */
@Tag("heavy")
@Timeout(240)
final class StoredRoutesTest {
    @TempDir
    private Path directory;

    private void run(String... words) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "dev.parley.cli.Main"));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .inheritIO()
                .start();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).isZero();
    }

    @Test
    void aStoredRouteIsTheDefaultAgentOfAHubWithANewDirectory() throws Exception {
        try (var server = DatabaseServer.primary()) {
            Path first = directory.resolve("first");
            try (var hub = HubProcess.start(first, server.url())) {
                run("gateway", "add", "stored", hub.url() + "/agents/echo", "--url", hub.url());
            }
            Path second = directory.resolve("second");
            HubProcess.copySecrets(first.resolve("data"), second.resolve("data"));

            try (var hub = HubProcess.start(second, server.url(), "--default-agent", "stored", "--no-demo")) {
                assertThat(hub.isAlive()).as(hub.log()).isTrue();
            }
            try (var hub = HubProcess.launch(directory.resolve("third"), server.url(), "--default-agent", "other")) {
                assertThat(hub.exitStatus()).isEqualTo(2);
                assertThat(hub.log()).contains("--default-agent: no agent other", "stored");
            }
            try (var hub = HubProcess.launch(directory.resolve("fourth"), "postgresql:/none", "--no-demo")) {
                assertThat(hub.exitStatus()).isEqualTo(2);
                assertThat(hub.log()).contains("postgresql");
            }
        }
    }
}
