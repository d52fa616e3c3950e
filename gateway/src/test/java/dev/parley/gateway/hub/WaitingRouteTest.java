package dev.parley.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.hub.Hub;
import dev.parley.protocol.Task;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A route whose agent does not answer at the start of the hub. */
@Timeout(60)
final class WaitingRouteTest {
    @Test
    void anAgentThatComesUpLaterIsHostedWithoutARefresh() throws Exception {
        try (var log = new HostingLog();
                var agent = new FakeAgent()) {
            agent.results = request -> FakeAgent.task("t", "c", "awake");
            agent.refusals.set(9); // of more than one attempt
            try (Hub hub = Hub.builder()
                    .inMemory()
                    .port(0)
                    .drain(Duration.ZERO)
                    .set("remote", "late=" + agent.url())
                    .set("gateway-refresh", "1h")
                    .start()) {
                log.await("late", "active");

                try (AgentClient client = AgentClient.connect(hub.agentUrl("late"))) {
                    assertThat(((Task) client.send("hello")).text()).isEqualTo("awake");
                }
                assertThat(Admin.of(hub).show("late").get("problem")).isNull();
            }
        }
    }
}
