package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Checkup.Finding;
import dev.parley.hub.admin.HubOperation.Level;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.testkit.Eventually;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The server of a graph's statements is away. */
@Timeout(120)
@DisplayName("KG27: a hub whose --knowledge-store cannot be reached")
final class UnreachableStoreTest {
    @TempDir
    private Path data;

    private HubBuilder hub() {
        return Hub.builder()
                .data(data)
                .port(0)
                .agents(Agent.named("echo", "Says it again")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete(request.text())));
    }

    private List<Finding> checks() {
        return Checkup.of(data, null, null).stream()
                .filter(finding -> finding.check().equals("graph"))
                .toList();
    }

    @Test
    void theHubStartsAndShowsItInMetricsAndDoctor() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        String address = "http://127.0.0.1:" + port + "/kg";
        try (Hub hub = hub().set("knowledge-store", "sparql=" + address).start()) {
            var caller = new Outsider(hub.url());

            assertThat(caller.get("/ready").statusCode()).isEqualTo(200);
            Eventually.asserted(
                    "the metrics show it",
                    () -> assertThat(caller.get("/metrics").body())
                            .contains("parley_extension_available{extension=\"graph\"} 0.0"));
            assertThat(checks()).singleElement().satisfies(finding -> {
                assertThat(finding.level()).isEqualTo(Level.PROBLEM);
                assertThat(finding.message()).contains(address);
            });
        }
        assertThat(checks()).hasSize(1); // without a hub too
    }

    @Test
    void aGraphInTheDatabaseNeedsNoCheck() {
        hub().start().close();

        assertThat(checks()).isEmpty();
    }
}
