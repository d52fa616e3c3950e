package dev.parley.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of {@code docs/spring-ai.md}. */
final class DocumentationTest {
    @ParameterizedTest
    @ValueSource(strings = {"AssistantAgent", "RememberingAgent", "TravelDesk"})
    void thePageShowsTheProgramThatIsTested(String program) throws IOException {
        String source = Files.readString(Path.of("src/test/java/dev/parley/spring/ai/" + program + ".java"));
        String imports = source.substring(source.indexOf("import"), source.indexOf("/**"));
        String type = source.substring(source.indexOf("final class"));

        assertThat(Files.readString(Path.of("../docs/spring-ai.md")))
                .contains(imports.strip())
                .contains(type.strip());
    }
}
