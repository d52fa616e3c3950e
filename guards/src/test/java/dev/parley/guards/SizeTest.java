package dev.parley.guards;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

        assertThat(problems(linesOfModules(ROOT), limits)).isEmpty();
    }

    @Test
    void plantedLinesAboveALimitAreFound(@TempDir Path root) throws IOException {
        Path sources = Files.createDirectories(root.resolve("first/src/main/java"));
        Files.writeString(sources.resolve("First.java"), "package first;\nimport java.util.List;\n\nclass First {}\n");
        var limits = new Properties();

        assertThat(linesOfModules(root)).isEqualTo(Map.of("first", 3));
        assertThat(problems(linesOfModules(root), limits)).hasSize(1);
        limits.setProperty("first", "2");
        assertThat(problems(linesOfModules(root), limits))
                .singleElement()
                .asString()
                .startsWith("first: 3 lines without imports (expected: at most 2,");
        limits.setProperty("first", "3");
        assertThat(problems(linesOfModules(root), limits)).isEmpty();
    }

    private static Set<String> problems(Map<String, Integer> sizes, Properties limits) {
        var problems = new TreeSet<String>();
        sizes.forEach((module, lines) -> {
            String limit = limits.getProperty(module);
            if (limit == null || lines > Integer.parseInt(limit)) {
                problems.add(module + ": " + lines + " lines without imports (expected: at most " + limit
                        + ", the limit in guards/" + LIMITS + ")");
            }
        });
        return problems;
    }

    private static Map<String, Integer> linesOfModules(Path root) throws IOException {
        var lines = new TreeMap<String, Integer>();
        try (Stream<Path> modules = Files.list(root)) {
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
