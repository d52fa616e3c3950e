package dev.parley.knowledge.sparql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.SmallHeapGraph;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
@Tag("heavy")
final class SparqlMemoryTest {
    @Test
    void largeQueriesAtOnceAreRefusedBeforeTheyExhaustTheHeap(@TempDir Path directory)
            throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-XX:+UseSerialGC",
                        "-XX:+ExitOnOutOfMemoryError",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        SmallHeapGraph.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();

        List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("small ") || line.startsWith("large ") || line.equals("closed"))
                .toList();

        assertThat(said).endsWith("closed");
        assertThat(process.waitFor()).isZero();
        assertThat(said).filteredOn(line -> line.startsWith("small ")).containsOnly("small answered");
        assertThat(said)
                .filteredOn(line -> line.startsWith("large "))
                .isSubsetOf(
                        "large answered",
                        "large refused KNOWLEDGE_QUERY too-much",
                        "large refused KNOWLEDGE_QUERY timeout")
                .contains("large refused KNOWLEDGE_QUERY too-much");
    }
}
