package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    void theCommandInstallHasAllArtifactsThatTheDocumentationNamesForProjects() throws Exception {
        Path root = Path.of("..");
        Matcher modules = Pattern.compile("-pl (\\S+) -am install").matcher(Files.readString(root.resolve("parley")));
        assertThat(modules.find()).isTrue();
        var documented = new TreeSet<String>();
        for (String page : List.of("embedding.md", "extensions.md", "registry-agentvault.md", "spring.md")) {
            Pattern.compile("`parley-([a-z-]+)`")
                    .matcher(Files.readString(root.resolve("docs").resolve(page)))
                    .results()
                    .forEach(artifact -> documented.add(artifact.group(1)));
        }

        Set<String> installed =
                ModuleGraph.read(root).withRequired(List.of(modules.group(1).split(",")));

        assertThat(documented).contains("registry", "registry-agentvault", "testkit");
        assertThat(installed).containsAll(documented);
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
