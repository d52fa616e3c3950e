package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What {@code docs/security.md} names is there. */
final class SecurityTableTest {
    private static final Pattern NAMED = Pattern.compile("`(\\w+(?:Test|Contract))(?:\\.(\\w+))?`");
    private static final Pattern CHECK = Pattern.compile("@DisplayName\\(\\s*\"(S\\d[^:\"]*):");

    @Test
    void everyCheckHasOneRow() throws IOException {
        assertThat(SecurityTable.rows().stream().map(List::getFirst))
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 89).mapToObj(i -> "S" + i).toList());
    }

    @Test
    void testsThatAreNamedExist() throws IOException {
        Map<String, String> sources = sources();
        for (List<String> row : SecurityTable.rows()) {
            var named = NAMED.matcher(row.get(3));
            while (named.find()) {
                assertThat(sources).as(row.getFirst()).containsKey(named.group(1));
                if (named.group(2) != null) {
                    assertThat(sources.get(named.group(1))).as(row.getFirst()).contains("void " + named.group(2) + "(");
                }
            }
        }
    }

    @Test
    void theSuiteIsNamedWhereItHasACheck() throws IOException {
        String suite = sources().get("CallerSecurityTest") + sources().get("RequestSecurityTest");
        var checked = CHECK.matcher(suite)
                .results()
                .flatMap(found -> Stream.of(found.group(1).split(", ", -1)))
                .toList();
        for (List<String> row : SecurityTable.rows()) {
            assertThat(row.get(3).contains("the suite")).as(row.getFirst()).isEqualTo(checked.contains(row.getFirst()));
        }
    }

    private static Map<String, String> sources() throws IOException {
        var sources = new TreeMap<String, String>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path tests : modules.map(module -> module.resolve("src/test/java"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(tests)) {
                    for (Path file : files.filter(path -> path.toString().endsWith(".java"))
                            .toList()) {
                        // Some names are there in two modules.
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
