package dev.parley.guards;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Lines of the main code of each module, without imports, against the recorded limits. A change that needs more lines raises
 * the limit, so that its review shows the growth (docs/adr/0044).
 */
class SizeTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path LIMITS = Path.of("src/test/resources/dev/parley/guards/lines.properties");

    @Test
    void noModuleHasMoreLinesThanRecorded() throws IOException {
        var limits = new Properties();
        try (Reader in = Files.newBufferedReader(LIMITS)) {
            limits.load(in);
        }

        var problems = new TreeSet<String>();
        lines().forEach((module, lines) -> {
            String limit = limits.getProperty(module);
            if (limit == null || lines > Integer.parseInt(limit)) {
                problems.add(module + ": " + lines + " lines without imports (expected: at most " + limit
                        + ", the limit in guards/" + LIMITS + ")");
            }
        });

        assertThat(problems).isEmpty();
    }

    private static Map<String, Integer> lines() throws IOException {
        var lines = new TreeMap<String, Integer>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(path -> Files.isDirectory(path.resolve("src/main/java")))
                    .toList()) {
                lines.put(module.getFileName().toString(), lines(module.resolve("src/main/java")));
            }
        }
        return lines;
    }

    private static int lines(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            int lines = 0;
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".java")).toList()) {
                try (Stream<String> text = Files.lines(file)) {
                    lines += (int)
                            text.filter(line -> !line.startsWith("import ")).count();
                }
            }
            return lines;
        }
    }
}
