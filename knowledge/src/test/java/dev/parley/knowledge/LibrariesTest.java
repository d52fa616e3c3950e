package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A graph without the libraries of a query language serves the rest. */
@Timeout(60)
@Tag("heavy")
class LibrariesTest {
    @TempDir
    private Path directory;

    private List<String> outcomesWithout(String jars) throws IOException, InterruptedException {
        Pattern left = Pattern.compile(jars);
        String classPath = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry ->
                        !left.matcher(Path.of(entry).getFileName().toString()).find())
                .collect(Collectors.joining(File.pathSeparator));
        assertThat(classPath).isNotEqualTo(System.getProperty("java.class.path"));
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        classPath,
                        PartialGraph.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var output = process.inputReader()) {
            List<String> lines = output.lines().toList();
            assertThat(process.waitFor()).isZero();
            return lines;
        }
    }

    @Test
    void aGraphWithoutGraphQlAnswersSparqlAndUpdates() throws Exception {
        List<String> outcomes = outcomesWithout("^(graphql-java|java-dataloader|reactive-streams)");

        assertThat(outcomes)
                .contains(
                        "languages [sparql]",
                        "update answered true",
                        "sparqlUpdate answered true",
                        "shapes answered true");
        assertThat(outcomes).anyMatch(line -> line.startsWith("sparql answered"));
        assertThat(refused(outcomes)).containsExactly("graphql", "schema", "subscribe");
    }

    @Test
    void aGraphWithoutJenaAnswersGraphQlAndUpdates() throws Exception {
        List<String> outcomes = outcomesWithout("^(jena-|titanium|parsson|jakarta\\.json)");

        assertThat(outcomes)
                .contains(
                        "languages [graphql]",
                        "update answered true",
                        "schema answered true",
                        "subscribe answered true");
        assertThat(outcomes).anyMatch(line -> line.startsWith("graphql answered"));
        assertThat(refused(outcomes)).containsExactly("sparql", "sparqlUpdate", "shapes");
    }

    @Test
    void aGraphWithoutBothHoldsStatements() throws Exception {
        List<String> outcomes =
                outcomesWithout("^(graphql-java|java-dataloader|reactive-streams|jena-|titanium|parsson)");

        assertThat(outcomes).contains("languages []", "update answered true");
        assertThat(refused(outcomes))
                .containsExactly("graphql", "sparql", "sparqlUpdate", "schema", "subscribe", "shapes");
    }

    private static List<String> refused(List<String> outcomes) {
        return outcomes.stream()
                .filter(line -> line.contains(" refused INVALID_PARAMS "))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
    }
}
