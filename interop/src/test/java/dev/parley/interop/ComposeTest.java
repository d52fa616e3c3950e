package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Compose file of {@code deploy/}, read as Docker Compose reads it: schema, interpolation and references. No container is started.
 * When it is skipped is as with {@link InteropTest}.
 */
@Timeout(600) // the reader is compiled once
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ComposeTest {
    private static final Path FILE =
            Path.of("..", "deploy", "compose.yaml").toAbsolutePath().normalize();

    @TempDir
    private Path directory;

    @BeforeAll
    void install() {
        ComposeFile.install();
    }

    @Test
    void theFileIsOneOfTheComposeSpecification() throws IOException {
        assertThat(services(FILE)).containsExactlyInAnyOrder("primary", "standby", "hub1", "hub2", "hub3", "haproxy");
    }

    @Test
    void anUnknownMemberIsFound() throws IOException {
        Path changed = Files.writeString(
                directory.resolve("compose.yaml"), Files.readString(FILE).replace("cap_drop:", "drop_caps:"));

        assertThatThrownBy(() -> services(changed)).hasMessageContaining("'drop_caps' not allowed");
    }

    private static Set<String> services(Path file) throws IOException {
        return ComposeFile.read(file, Map.of("PARLEY_IMAGE", "registry.example.com/parley:0.1.0"))
                .services()
                .keySet();
    }
}
