package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log of a hub that stops while parts of it still begin their work. */
@Timeout(120)
@Tag("heavy")
final class QuietStopTest {
    @TempDir
    private Path directory = Path.of("");

    @Test
    @DisplayName("N6 a stop at any moment after the start leaves no warning and no stack trace")
    void quiet() throws Exception {
        Path errors = directory.resolve("errors");
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ShortHub.class.getName(),
                        directory.toString())
                .redirectError(errors.toFile())
                .start();
        String output = new String(program.getInputStream().readAllBytes(), UTF_8);

        assertThat(program.waitFor()).as(Files.readString(errors)).isZero();
        assertThat(output).contains("closed");
        assertThat(Files.readAllLines(errors))
                .filteredOn(line -> line.contains("WARN") || line.contains("SEVERE") || line.contains("Exception"))
                .isEmpty();
    }
}
