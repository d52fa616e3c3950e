package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.protocol.Task;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A route whose agent does not answer at the start of the hub, or not yet. */
@Timeout(60)
final class WaitingRouteTest {
    private static HttpResponse<String> post(String url, String body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return Admin.HTTP.send(request.build(), BodyHandlers.ofString());
    }

    @Test
    @DisplayName("C8: a route that waits for its card is 503 with a pause and the reason, in the dialect of its caller")
    void aWaitingRouteTellsThatItWaits() throws Exception {
        try (var agent = new FakeAgent()) {
            agent.refusals.set(1_000_000);
            try (Hub hub = Hub.builder()
                    .inMemory()
                    .port(0)
                    .drain(Duration.ZERO)
                    .set("remote", "late=" + agent.url())
                    .set("gateway-refresh", "1h")
                    .start()) {
                String rpc = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":{}}";
                for (HttpResponse<String> answer : List.of(
                        post(hub.agentUrl("late"), rpc, "A2A-Version", "1.0"),
                        post(hub.agentUrl("late"), rpc.replace("SendMessage", "message/send")),
                        post(hub.agentUrl("late") + "/message:send", "{}", "A2A-Version", "1.0"),
                        Admin.HTTP.send(
                                HttpRequest.newBuilder(
                                                URI.create(hub.agentUrl("late") + "/.well-known/agent-card.json"))
                                        .build(),
                                BodyHandlers.ofString()))) {
                    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
                    assertThat(answer.headers().firstValue("Retry-After")).isPresent();
                    assertThat(answer.body()).contains("cannot be called yet").doesNotContain("127.0.0.1");
                }
                String card = """
                        {"name":"late","description":"","version":"1","capabilities":{"streaming":true},
                         "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[],
                         "supportedInterfaces":[{"url":"%s","protocolBinding":"GRPC","protocolVersion":"1.0","tenant":"late"}]}
                        """.formatted(URI.create(hub.agentUrl("late")).getAuthority());
                try (AgentClient grpc = AgentClient.builder().retries(0).of(Json.readCard(card.getBytes(UTF_8)))) {
                    assertThatThrownBy(() -> grpc.send("hello")).hasMessageContaining("cannot be called yet");
                    assertThatThrownBy(() -> grpc.stream("hello").next())
                            .hasMessageContaining("cannot be called yet")
                            .hasMessageNotContaining(agent.url());
                }
                assertThat(post(hub.agentUrl("other"), rpc, "A2A-Version", "1.0")
                                .statusCode())
                        .isEqualTo(404);
            }
        }
    }

    @Test
    @DisplayName("K4: a hub is ready when its routes are served")
    void aHubIsReadyWhenItsRoutesAreServed() throws Exception {
        var asked = new CountDownLatch(1);
        var shown = new CountDownLatch(1);
        int port;
        try (var free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        try (var agent = new FakeAgent()) {
            agent.showing = () -> {
                asked.countDown();
                try {
                    shown.await();
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
            };
            agent.results = request -> FakeAgent.task("t", "c", "awake");
            var starting = CompletableFuture.supplyAsync(
                    () -> Hub.builder()
                            .inMemory()
                            .port(port)
                            .drain(Duration.ZERO)
                            .set("remote", "slow=" + agent.url())
                            .set("gateway-refresh", "1h")
                            .start(),
                    Thread::startVirtualThread);
            asked.await();
            HttpResponse<String> early = ready(port);
            shown.countDown();
            try (Hub hub = starting.get()) {
                assertThat(early.statusCode()).as(early.body()).isEqualTo(503);
                assertThat(ready(port).statusCode()).isEqualTo(200);
                try (AgentClient client = AgentClient.connect(hub.agentUrl("slow"))) {
                    assertThat(((Task) client.send("hello")).text()).isEqualTo("awake");
                }
            }
        }
    }

    private static HttpResponse<String> ready(int port) throws Exception {
        return Admin.HTTP.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/ready"))
                        .build(),
                BodyHandlers.ofString());
    }

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
