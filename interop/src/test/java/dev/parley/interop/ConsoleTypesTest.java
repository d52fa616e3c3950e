package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The types that comments of the console's modules declare, checked by TypeScript against those of its libraries. */
final class ConsoleTypesTest {
    private static final Path MODULES =
            Path.of("../console/src/main/resources/dev/parley/console/ui").toAbsolutePath();

    @Test
    void theModulesOfTheConsoleHaveTheTypesThatTheyDeclare() throws IOException {
        try {
            ForeignSdk.CONSOLE_TYPES.install();
        } catch (IOException failure) {
            Requirement.missing("TypeScript cannot be installed: " + failure.getMessage());
        }

        List<String> faults = ForeignSdk.execute(
                ForeignSdk.CONSOLE_TYPES.directory(),
                Duration.ofMinutes(3),
                List.of("sh", "-c", "rm -rf ui && cp -r \"$0\" ui && { npx tsc -p . || true; }", MODULES.toString()),
                "types");

        assertThat(faults).isEmpty();
    }
}
