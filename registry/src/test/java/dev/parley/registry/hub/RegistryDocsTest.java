package dev.parley.registry.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Hub;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class RegistryDocsTest {
    @Test
    @DisplayName("the requests of docs/registry.md are answered, in their order")
    void samples() throws Exception {
        List<MatchResult> samples = Pattern.compile("```http\n([A-Z]+) (\\S+)\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/registry.md")))
                .results()
                .toList();
        assertThat(samples).hasSizeGreaterThan(8);
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("registry-publisher", "agents.example.com")
                .start()) {
            Caller web = ExtensionKit.caller(hub.url()).with("A2A-Version", "1.0");
            for (MatchResult sample : samples) {
                Answer answer = web.send(
                        sample.group(1), sample.group(2), sample.group(3).strip());
                assertThat(answer.status()).as(sample.group() + answer.text()).isEqualTo(200);
            }
        }
    }
}
