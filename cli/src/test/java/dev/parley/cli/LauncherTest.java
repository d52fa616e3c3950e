package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The script that builds the program and runs it. */
@Timeout(60)
final class LauncherTest {
    @ParameterizedTest
    @CsvSource({"test, --help", "check, --help", "build, --help", "install, -h", "jdk, --help"})
    void helpOfItsOwnCommandsIsShownAndNothingIsBuilt(String command, String help) throws Exception {
        Process launcher = new ProcessBuilder(
                        Path.of("..", "parley").toAbsolutePath().toString(), command, help)
                .redirectErrorStream(true)
                .start();
        try {
            var said = new String(launcher.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(launcher.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(launcher.exitValue()).isZero();
            assertThat(said)
                    .startsWith("Parley's launcher")
                    .contains("./parley " + command + " ")
                    .doesNotContain("set -euo");
        } finally {
            launcher.destroyForcibly();
        }
    }

    @Test
    @DisplayName("N2: the launcher needs no variable of the environment")
    void withoutEnvironment() throws Exception {
        ProcessBuilder command = new ProcessBuilder(
                        Path.of("..", "parley").toAbsolutePath().toString(), "jdk")
                .redirectErrorStream(true);
        command.environment().clear();
        command.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process launcher = command.start();
        try {
            var said = new String(launcher.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(launcher.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(said).doesNotContain("unbound");
            assertThat(launcher.exitValue()).as(said).isZero();
        } finally {
            launcher.destroyForcibly();
        }
    }
}
