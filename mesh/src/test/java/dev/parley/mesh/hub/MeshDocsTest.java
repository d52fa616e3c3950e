package dev.parley.mesh.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

final class MeshDocsTest {
    @Test
    @DisplayName("the message of docs/mesh.md is accepted")
    void sample() throws Exception {
        var samples = Pattern.compile("```json\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/mesh.md")))
                .results()
                .map(found -> found.group(1))
                .toList();
        Agent researcher = Agent.named("researcher", "Researches")
                .skill("research", "Researches a topic")
                .handle((request, reply) -> reply.complete(request.text()));

        try (Hub hub = Hub.builder().inMemory().port(0).agents(researcher).start()) {
            assertThat(new Peer(hub.url())
                            .post("/agents/researcher/one", samples.getFirst())
                            .status())
                    .isEqualTo(202);
        }
    }
}
