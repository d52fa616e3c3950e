package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Receiver;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Replicas, credentials and webhooks of routes, through a whole hub. */
@Timeout(60)
final class GatewayUpstreamTest {
    @TempDir
    Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Semaphore steps = new Semaphore(0);
    private final Receiver receiver = ExtensionKit.receiver();
    private Hub gateway;

    @BeforeEach
    void start() {
        open.add(receiver);
        gateway = gateway(0);
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable one : open.reversed()) {
            one.close();
        }
    }

    private Hub gateway(int port) {
        Hub hub = Hub.builder()
                .data(directory)
                .port(port)
                .drain(Duration.ZERO)
                .webhookAllow(List.of("127.0.0.1"))
                .start();
        open.add(hub);
        return hub;
    }

    private Hub remote(AtomicInteger runs) {
        Agent agent = Agent.named("worker", "Works").handle((request, reply) -> {
            runs.incrementAndGet();
            if (request.text().equals("steps")) {
                for (int step = 1; step <= 2; step++) {
                    steps.acquire();
                    reply.working("step-" + step);
                }
            }
            reply.complete(request.text());
        });
        Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .webhookAllow(List.of("127.0.0.1"))
                .agents(agent)
                .start();
        open.add(hub);
        return hub;
    }

    private AgentClient client() {
        AgentClient client = AgentClient.connect(gateway.agentUrl("worker"));
        open.add(client);
        return client;
    }

    @Test
    void tasksStayAtTheirReplicaThroughDrainAndRestart() throws Exception {
        var first = new AtomicInteger();
        var second = new AtomicInteger();
        String one = remote(first).agentUrl("worker");
        String other = remote(second).agentUrl("worker");
        Admin.of(gateway).add("worker", one, Map.of("replicas", List.of("2*" + one, other)));
        AgentClient client = client();
        var ids = new ArrayList<String>();
        for (int i = 0; i < 30; i++) {
            ids.add(((Task) client.send("task " + i)).id());
        }
        assertThat(first.get()).isPositive();
        assertThat(second.get()).isPositive();

        var unknown = Admin.of(gateway).ask("POST", "/worker/drain", Map.of("url", "http://127.0.0.1:1"));
        assertThat(unknown.statusCode()).isEqualTo(400);
        assertThat(new String(unknown.body(), UTF_8)).contains("no replica of the route");

        Admin.of(gateway).done("POST", "/worker/drain", Map.of("url", one, "end", "false"));
        int before = first.get();
        for (int i = 0; i < 10; i++) {
            client.send("after the drain");
        }
        assertThat(first).as("a draining replica begins nothing").hasValue(before);
        assertThat(String.valueOf(Admin.of(gateway).show("worker").get("replicas")))
                .contains("draining=true");
        assertThat(Admin.of(gateway).done("GET", "", null).toString()).contains("available=1 of 2 replicas");

        int port = URI.create(gateway.url()).getPort();
        gateway.close();
        gateway = gateway(port);
        AgentClient again = client();
        for (String id : ids) {
            assertThat(again.task(id).state()).isEqualTo(TaskState.COMPLETED);
        }
        assertThat(metrics()).contains("gateway_first_event_seconds_count{route=\"worker\"}");
    }

    @Test
    @DisplayName("GEM31 calls spread over two replicas, and a sick one is skipped")
    void sickReplicasAreSkipped() throws Exception {
        var first = new AtomicInteger();
        var second = new AtomicInteger();
        Hub sick = remote(first);
        String one = sick.agentUrl("worker");
        String other = remote(second).agentUrl("worker");
        Admin.of(gateway).add("worker", one, Map.of("replicas", List.of(one, other), "set", List.of("failures=1")));
        AgentClient client = client();
        for (int i = 0; i < 20; i++) {
            client.send("task " + i);
        }
        assertThat(first.get()).isPositive();
        assertThat(second.get()).isPositive();

        sick.close();
        int before = second.get();
        int lost = 0;
        for (int i = 0; i < 20; i++) {
            try {
                client.send("beside the sick one " + i);
            } catch (A2AException unknown) { // sent on a connection that was just being closed
                lost++;
            }
        }

        assertThat(lost).isLessThanOrEqualTo(1);
        assertThat(second).hasValue(before + 20 - lost);
    }

    private String metrics() throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(gateway.url() + "/metrics")).build();
        return Admin.HTTP.send(request, BodyHandlers.ofString()).body();
    }

    private PushConfig hook(String id) {
        return new PushConfig(null, id, null, receiver.url(), "token-of-" + id, null);
    }

    @Test
    void webhooksOfAMessageAndOfATaskAreRelayed() throws Exception {
        Hub remote = remote(new AtomicInteger());
        Admin.of(gateway).add("worker", remote.agentUrl("worker"), Map.of());
        AgentClient client = client();
        assertThat(client.card().capabilities().pushNotifications()).isTrue();

        var configuration = new SendConfiguration(List.of(), hook("first"), null, true);
        Task task = (Task) client.call(
                new Operation.SendMessage(null, Message.user(Part.text("steps")), configuration, Map.of()),
                CallContext.anonymous());
        PushConfig second = client.createPushConfig(hook("second").of(task.id(), "second"));

        assertThat(second.taskId()).isEqualTo(task.id());
        assertThat(client.pushConfigs(task.id())).extracting(PushConfig::id).contains("first", "second");
        try (AgentClient direct = AgentClient.connect(remote.agentUrl("worker"))) {
            assertThat(direct.pushConfigs(task.id()))
                    .as("one webhook of the gateway, none of the caller")
                    .singleElement()
                    .satisfies(config -> assertThat(config.url()).startsWith(gateway.url() + "/gateway/push/"));
        }
        client.deletePushConfig(task.id(), "second");
        steps.release(2);
        String all = receiver.until(notification -> notification.body().contains("TASK_STATE_COMPLETED")).stream()
                .map(notification -> notification.headers().get("x-a2a-notification-token") + " " + notification.body())
                .collect(Collectors.joining());
        assertThat(all)
                .contains("token-of-first", "step-1", "step-2", task.id())
                .doesNotContain("gateway-push")
                .doesNotContainPattern("token-of-second (?:(?!token-of-).)*step-");
    }

    @Test
    void aMessageWithoutATaskLeavesNoWebhook() throws Exception {
        Agent agent = Agent.named("worker", "Answers").handle((request, reply) -> reply.message("hi"));
        Hub remote = Hub.builder()
                .inMemory()
                .port(0)
                .webhookAllow(List.of("127.0.0.1"))
                .agents(agent)
                .start();
        open.add(remote);
        Admin.of(gateway).add("worker", remote.agentUrl("worker"), Map.of());

        var answer = client().call(
                        new Operation.SendMessage(
                                null,
                                Message.user(Part.text("hello")),
                                new SendConfiguration(List.of(), hook("none"), null, false),
                                Map.of()),
                        CallContext.anonymous());

        assertThat(answer).isInstanceOf(Message.class);
        assertThat(receiver.left()).isEmpty();
    }
}
