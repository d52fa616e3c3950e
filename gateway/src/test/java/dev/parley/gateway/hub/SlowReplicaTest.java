package dev.parley.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.hub.Hub;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A replica whose server takes a connection, and does not answer. */
@Timeout(60)
final class SlowReplicaTest {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    private void hang() {
        asked.countDown();
        try {
            released.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static Hub gateway() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .set("gateway-refresh", "1h")
                .webhookAllow(List.of("127.0.0.1"))
                .start();
    }

    @Test
    void aReplicaThatIsBeingConnectedDelaysNoChangeOfItsRouteAndNoOtherRoute() throws Exception {
        try (var card = new FakeAgent();
                var slow = new FakeAgent();
                var other = new FakeAgent();
                Hub gateway = gateway()) {
            slow.showing = this::hang;
            other.results = request -> FakeAgent.task("t", "c", "awake");
            Admin admin = Admin.of(gateway);
            admin.add("slow", card.url(), Map.of("replicas", List.of(slow.url()), "set", List.of("retries=0")));
            try (AgentClient caller = AgentClient.builder().retries(0).connect(gateway.agentUrl("slow"))) {
                var hanging = CompletableFuture.supplyAsync(() -> caller.send("hello"), Thread::startVirtualThread);
                assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();

                admin.done("DELETE", "/slow", null);
                admin.add("other", other.url(), Map.of());
                SendResult answer;
                try (AgentClient client = AgentClient.connect(gateway.agentUrl("other"))) {
                    answer = client.send("hello");
                }

                assertThat(((Task) answer).text()).isEqualTo("awake");
                assertThat(admin.done("GET", "", null).toString())
                        .contains("other")
                        .doesNotContain("slow");
                assertThat(hanging).isNotDone();
                released.countDown();
                assertThatThrownBy(hanging::join).isNotNull();
            } finally {
                released.countDown();
            }
        }
    }
}
