package dev.parley.hub;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Sources of the tests of all modules, for checks of the documents that name them. */
final class TestSources {
    private TestSources() {}

    /** Returns the source of each class by its simple name; of two classes of one name, both. */
    static Map<String, String> byClass() throws IOException {
        var sources = new TreeMap<String, String>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path tests : modules.flatMap(module -> Stream.of("src/test/java", "src/main/java/dev/parley/testkit")
                            .map(module::resolve))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(tests)) {
                    for (Path file : files.filter(path -> path.toString().endsWith(".java"))
                            .toList()) {
                        sources.merge(
                                file.getFileName().toString().replace(".java", ""),
                                Files.readString(file),
                                String::concat);
                    }
                }
            }
        }
        return sources;
    }
}
