package dev.parley.guards;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Artifacts that {@code ./parley install} puts into the local repository. */
final class InstalledArtifactsTest {
    @Test
    void theCommandInstallHasAllArtifactsThatTheDocumentationNamesForProjects() throws Exception {
        Path root = Path.of("..");
        Matcher modules = Pattern.compile("-pl (\\S+) -am install").matcher(Files.readString(root.resolve("parley")));
        assertThat(modules.find()).isTrue();
        var documented = new TreeSet<String>();
        for (String page : List.of(
                "embedding.md",
                "extensions.md",
                "langchain4j.md",
                "registry-agentvault.md",
                "spring-ai.md",
                "spring.md")) {
            Pattern.compile("`parley-([a-z0-9-]+)`")
                    .matcher(Files.readString(root.resolve("docs").resolve(page)))
                    .results()
                    .forEach(artifact -> documented.add(artifact.group(1)));
        }

        Set<String> installed =
                ModuleGraph.read(root).withRequired(List.of(modules.group(1).split(",")));

        assertThat(documented).contains("registry", "registry-agentvault", "testkit");
        assertThat(installed).containsAll(documented);
    }
}
