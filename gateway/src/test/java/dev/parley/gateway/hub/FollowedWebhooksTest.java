package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Receiver;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Webhooks of tasks of agents that have none: the gateway follows the tasks. */
@Timeout(60)
@Tag("heavy")
final class FollowedWebhooksTest {
    @TempDir
    Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Semaphore steps = new Semaphore(0);
    private final Receiver receiver = ExtensionKit.receiver();
    private Hub gateway;

    @BeforeEach
    void start() throws Exception {
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

    private Hub remote() {
        Agent agent = Agent.named("worker", "Works step by step").handle((request, reply) -> {
            if (request.text().equals("ask")) {
                reply.askForInput("which one?");
                return;
            }
            for (int step = 1; step <= 3; step++) {
                steps.acquire();
                reply.artifact(Artifact.of("steps", Part.text("step-" + step)), step > 1, step == 3);
            }
            reply.complete();
        });
        Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .agents(agent)
                .start();
        open.add(hub);
        return hub;
    }

    private Task send(Message message, boolean hooked) {
        PushConfig config = hooked ? new PushConfig(null, "mine", null, receiver.url(), "token", null) : null;
        try (AgentClient client = AgentClient.connect(gateway.agentUrl("worker"))) {
            return (Task) client.call(
                    new Operation.SendMessage(
                            null, message, new SendConfiguration(List.of(), config, null, true), Map.of()),
                    CallContext.anonymous());
        }
    }

    private void restart() throws Exception {
        int port = URI.create(gateway.url()).getPort();
        gateway.close();
        gateway = gateway(port);
    }

    @ParameterizedTest(name = "{1}")
    @CsvSource({"'',0.1", "/kernel,kernel", "/agentvault,agentvault"})
    @DisplayName("a webhook of a task of an agent without webhooks gets its events, also after a restart")
    void aTaskIsFollowedThroughARestart(String path, String version) throws Exception {
        Admin.of(gateway).add("worker", remote().agentUrl("worker") + path, Map.of("version", version));

        Task task = send(Message.user(Part.text("go")), true);
        steps.release();
        String before = receiver.until("step-1");
        restart();
        steps.release(2);
        String after = receiver.until("COMPLETED");

        assertThat(after).contains("step-2", "step-3").containsOnlyOnce("COMPLETED");
        for (String body : (before + after).strip().split("\n", -1)) {
            assertThat(body).contains(task.id()).doesNotContain("gateway-push");
        }
        assertThat(receiver.left()).isEmpty();
    }

    @Test
    void aTaskThatWaitsForItsCallerIsFollowedAfterARestart() throws Exception {
        Admin.of(gateway).add("worker", remote().agentUrl("worker"), Map.of("version", "0.1"));
        Task task = send(Message.user(Part.text("ask")), true);
        receiver.until("INPUT_REQUIRED");

        restart();
        steps.release(3);
        send(Message.user(Part.text("this one")).in(task.contextId(), task.id()), false);

        assertThat(receiver.until("COMPLETED")).contains("step-3");
    }

    @Test
    void aTaskOfAnAgentWithoutStreamsIsRead() throws Exception {
        try (var agent = new FakeAgent()) {
            agent.card = agent.card("false", "[]", "talk");
            agent.results = request -> "SendMessage".equals(request.get("method"))
                    ? FakeAgent.task("t", "c", "first")
                    : "\"result\":" + FakeAgent.bare("t", "c", "second").replace("_WORKING", "_COMPLETED");
            Admin.of(gateway).add("worker", agent.url(), Map.of());

            send(Message.user(Part.text("go")), true);

            assertThat(receiver.until("COMPLETED")).contains("second", "\"taskId\":\"t\"");
        }
    }

    @Test
    void aDeletedWebhookGetsNothing() throws Exception {
        Admin.of(gateway).add("worker", remote().agentUrl("worker"), Map.of("version", "0.1"));
        Task task = send(Message.user(Part.text("go")), true);
        steps.release();
        receiver.until("step-1");

        try (AgentClient client = AgentClient.connect(gateway.agentUrl("worker"))) {
            assertThat(client.pushConfigs(task.id()))
                    .singleElement()
                    .satisfies(config -> assertThat(config.url()).isEqualTo(receiver.url()));
            client.deletePushConfig(task.id(), "mine");
            steps.release(2);
            client.subscribe(task.id())
                    .forEachRemaining(event -> assertThat(event).isNotNull());
        }

        assertThat(receiver.left()).isEmpty();
    }

    @Test
    void webhooksNeedAnotherCredentialThanThatOfTheCaller() throws Exception {
        try (var agent = new FakeAgent()) {
            Admin.of(gateway)
                    .add(
                            "worker",
                            agent.url(),
                            Map.of(
                                    "set",
                                    List.of(
                                            "credential=token-exchange",
                                            "token-url=http://127.0.0.1:1/token",
                                            "client-id=gateway",
                                            "secret=env:NONE",
                                            "audience=https://agent.example")));

            assertThatThrownBy(() -> send(Message.user(Part.text("go")), true))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            e -> assertThat(e.error()).isEqualTo(A2AError.PUSH_NOTIFICATION_NOT_SUPPORTED));
        }
    }

    @Test
    void notificationsHaveTheMembersOfTheirVersion() throws Exception {
        Admin.of(gateway).add("worker", remote().agentUrl("worker"), Map.of("version", "0.1"));
        send(Message.user(Part.text("go")), true);
        steps.release(3);

        String first = receiver.until("step-1").lines().toList().getLast();

        Map<?, ?> notification = Json.read(first.getBytes(UTF_8), Map.class);
        assertThat(notification.keySet()).hasToString("[artifactUpdate]");
    }

    @ParameterizedTest
    @DisplayName(
            "M2 an agent that says it has webhooks and refuses one gets the message without it, and its task is followed")
    @CsvSource(
            delimiter = ';',
            value = {
                "-32003; Push Notification is not supported",
                "-32602; pushNotificationConfig.url: not allowed",
                "-32601; Method not found",
                "-32004; not here",
                "-32603; cannot store the webhook"
            })
    void refusedWebhooks(int code, String words) throws Exception {
        try (var agent = new FakeAgent()) {
            open.add(agent);
            agent.card = agent.card
                    .replace("\"capabilities\":{", "\"capabilities\":{\"pushNotifications\":true,")
                    .replace("\"streaming\":true", "\"streaming\":false");
            var methods = new LinkedBlockingQueue<String>();
            agent.results = request -> {
                String text = String.valueOf(request);
                methods.add(String.valueOf(request.get("method")));
                boolean isPush = text.contains("PushNotification") || text.contains("pushNotification");
                return isPush
                        ? "\"error\":{\"code\":" + code + ",\"message\":\"" + words + "\"}"
                        : "SendMessage".equals(request.get("method"))
                                ? FakeAgent.task("t1", "c1", "begun")
                                : "\"result\":"
                                        + FakeAgent.bare("t1", "c1", "ended at last")
                                                .replace("WORKING", "COMPLETED");
            };
            Admin.of(gateway).add("worker", agent.url(), Map.of());

            Task task = send(Message.user(Part.text("go")), true);

            assertThat(task.id()).isEqualTo("t1");
            assertThat(receiver.until("COMPLETED")).contains("ended at last");
            assertThat(methods.stream().filter("SendMessage"::equals)).hasSize(2);
        }
    }

    @Test
    @DisplayName(
            "M2 a webhook that is added to a task of such an agent is served, and deleted without asking the agent")
    void refusedLaterWebhooks() throws Exception {
        try (var agent = new FakeAgent()) {
            open.add(agent);
            agent.card = agent.card
                    .replace("\"capabilities\":{", "\"capabilities\":{\"pushNotifications\":true,")
                    .replace("\"streaming\":true", "\"streaming\":false");
            var state = new AtomicReference<>("WORKING");
            agent.results = request -> String.valueOf(request).contains("PushNotification")
                    ? "\"error\":{\"code\":-32003,\"message\":\"none\"}"
                    : "SendMessage".equals(request.get("method"))
                            ? FakeAgent.task("t1", "c1", "begun")
                            : "\"result\":"
                                    + FakeAgent.bare("t1", "c1", "later").replace("WORKING", state.get());
            Admin.of(gateway).add("worker", agent.url(), Map.of());
            send(Message.user(Part.text("go")), false);
            try (AgentClient client = AgentClient.connect(gateway.agentUrl("worker"))) {
                client.createPushConfig(new PushConfig(null, "first", "t1", receiver.url(), "token", null));
                client.deletePushConfig("t1", "first");
                client.createPushConfig(new PushConfig(null, "second", "t1", receiver.url(), "token", null));
            }
            state.set("COMPLETED");

            assertThat(receiver.until("COMPLETED")).contains("later");
        }
    }
}
