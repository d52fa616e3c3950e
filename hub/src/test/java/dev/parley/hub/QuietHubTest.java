package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log of a program that embeds a hub. */
@Timeout(120)
@Tag("heavy")
final class QuietHubTest {
    @TempDir
    private Path directory;

    private List<String> log(String... options) throws Exception {
        Path errors = directory.resolve("errors");
        Process program = start(Map.of(), errors, options);
        String output = new String(program.getInputStream().readAllBytes(), UTF_8);
        assertThat(program.waitFor()).as(output).isZero();
        assertThat(output.lines()).hasSize(1);
        return Files.readAllLines(errors).stream()
                .filter(line -> line.contains("SendMessage") || line.contains("INFO"))
                .toList();
    }

    private static Process start(Map<String, String> variables, Path errors, String... options) throws IOException {
        var command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                QuietHub.class.getName()));
        var program = new ProcessBuilder(command).redirectError(errors.toFile());
        program.environment().putAll(variables);
        return program.start();
    }

    @Test
    void aVariableThatIsNoValueOfItsSettingEndsTheProgramAndAnUnknownOneIsNamed() throws Exception {
        Path errors = directory.resolve("errors");

        Process program = start(Map.of("PARLEY_MAX_BODY", "much", "PARLEY_RETENTON", "30d"), errors);

        assertThat(program.waitFor()).isOne();
        assertThat(errors).content().contains("PARLEY_MAX_BODY: much (expected: ");
        program = start(Map.of("PARLEY_RETENTON", "30d", "PARLEY_PORT", "1"), errors);
        assertThat(program.inputReader().readLine()).startsWith("url ").doesNotEndWith(":1");
        assertThat(program.waitFor()).isZero();
        assertThat(errors).content().contains("PARLEY_RETENTON: ignored", "(nearest: PARLEY_RETENTION)");
    }

    @Test
    @DisplayName("N6 calls leave no lines in the log of a program that has configured none")
    void quiet() throws Exception {
        assertThat(log()).isEmpty();
    }

    @Test
    @DisplayName("N6 calls leave a line each if the program has configured its log by a file")
    void configured() throws Exception {
        Path file = Files.writeString(
                directory.resolve("logging.properties"),
                "handlers=java.util.logging.ConsoleHandler\njava.util.logging.SimpleFormatter.format=%4$s %5$s%n\n");

        assertThat(log("-Djava.util.logging.config.file=" + file))
                .filteredOn(line -> line.contains("SendMessage of echo"))
                .hasSize(2);
    }
}
