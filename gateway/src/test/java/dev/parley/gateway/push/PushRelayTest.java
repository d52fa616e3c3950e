package dev.parley.gateway.push;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.dialect.spi.Notification;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.spi.TaskLog;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
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
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@Tag("heavy")
class PushRelayTest {
    private static final String URI_OF_GATEWAY = "urn:parley:gateway:v1";
    private static final String NAME = PushRelay.AGENT;
    private static final String PATH = PushRelay.PATH;

    /** An extension with a relay and nothing else, in the place of the gateway. */
    private static final class Relaying implements HubExtensionSource {
        private volatile @Nullable PushRelay opened;

        PushRelay relay() {
            return requireNonNull(opened);
        }

        @Override
        public String uri() {
            return URI_OF_GATEWAY;
        }

        @Override
        public HubExtension open(HubParts hub) {
            var relay = new PushRelay(hub, URI_OF_GATEWAY, route -> Optional.empty());
            opened = relay;
            return new HubExtension() {
                @Override
                public String name() {
                    return "relaying";
                }

                @Override
                public AgentExtension of(String hubUrl, String agent, boolean streams) {
                    return relay.extension(hubUrl, "Relays");
                }

                @Override
                public List<Agent> agents() {
                    return List.of(relay.agent());
                }

                @Override
                public AgentEndpoint before(AgentEndpoint agent) {
                    return relay.before(agent);
                }

                @Override
                public Map<String, Face> faces() {
                    return Map.of(PATH, new Face(NAME, PushProtocol.face()));
                }

                @Override
                public Map<String, Set<String>> open() {
                    return Map.of(NAME, Set.of(PushProtocol.DELIVER));
                }

                @Override
                public Notification notification(
                        String dialect, TaskLog.TaskKey task, String agent, Notification notification) {
                    return relay.shown(notification);
                }
            };
        }
    }

    @TempDir
    Path directory;

    private final Receiver receiver = ExtensionKit.receiver();
    private final Semaphore steps = new Semaphore(0);
    private final List<Hub> hubs = new ArrayList<>();
    private final Relaying gateway = new Relaying();
    private Hub remoteHub;
    private Hub gatewayHub;
    private AgentClient client;

    @BeforeEach
    void start() throws Exception {
        remoteHub = remote(0);
        gatewayHub = gateway(0);
        client = AgentClient.connect(remoteHub.url() + "/agents/worker");
    }

    @AfterEach
    void stop() {
        client.close();
        hubs.reversed().forEach(Hub::close);
        receiver.close();
    }

    private Hub remote(int port) {
        Agent agent = Agent.named("worker", "Works step by step")
                .resumable(true)
                .handle((request, reply) -> {
                    if (request.text().startsWith("ask")) {
                        reply.working("thinking");
                        reply.askForInput("more?");
                        return;
                    }
                    if (request.text().equals("done")) {
                        reply.complete();
                        return;
                    }
                    int done = request.task()
                            .map(task -> task.artifacts().isEmpty()
                                    ? 0
                                    : task.artifacts().getFirst().parts().size())
                            .orElse(0);
                    if (done == 0) {
                        reply.working("begun");
                    }
                    for (int step = done + 1; step <= 3; step++) {
                        steps.acquire();
                        reply.artifact(Artifact.of("steps", Part.text("step-" + step)), step > 1, step == 3);
                    }
                    reply.complete();
                });
        Hub hub = Hub.builder()
                .data(directory.resolve("remote"))
                .port(port)
                .drain(Duration.ZERO)
                .webhookAllow(List.of("127.0.0.1"))
                .agents(agent)
                .start();
        hubs.add(hub);
        return hub;
    }

    private Hub gateway(int port) {
        Hub hub = Hub.builder()
                .data(directory.resolve("gateway"))
                .port(port)
                .drain(Duration.ZERO)
                .webhookAllow(List.of("127.0.0.1"))
                .extension(gateway)
                .start();
        hubs.add(hub);
        return hub;
    }

    private Task begun(@Nullable PushConfig config) {
        var configuration = new SendConfiguration(List.of(), config, null, true);
        var message = Message.user(Part.text("go"));
        return (Task)
                client.call(new Operation.SendMessage(null, message, configuration, Map.of()), CallContext.anonymous());
    }

    private PushConfig hook() {
        return new PushConfig(
                null,
                "mine",
                null,
                receiver.url(),
                "token-of-the-caller",
                new PushConfig.Authentication("Basic", "c2VjcmV0"));
    }

    private PushRelay.Remote remote() {
        return new PushRelay.Remote("worker", "1.0", call -> client.call(call, CallContext.anonymous()));
    }

    private PushConfig registered(Task task) {
        return gateway.relay().create(remote(), task.id(), task.contextId(), null, hook(), CallContext.anonymous());
    }

    @Test
    void aWebhookGetsTheEventsOfTheRemoteTaskInOrderAndSigned() throws Exception {
        Task task = begun(null);

        PushConfig created = registered(task);

        assertThat(created.taskId()).isEqualTo(task.id());
        assertThat(created.id()).isEqualTo("mine");
        List<PushConfig> upstream = client.pushConfigs(task.id());
        assertThat(upstream).hasSize(1);
        assertThat(upstream.getFirst().url())
                .startsWith(gatewayHub.url() + PATH + "/")
                .doesNotContain("/hook");
        steps.release(3);
        var bodies = new ArrayList<String>();
        for (int i = 0; i < 4; i++) {
            ExtensionKit.Notification next = receiver.next();
            bodies.add(next.body());
            assertThat(next.headers())
                    .containsEntry("x-a2a-notification-token", "token-of-the-caller")
                    .containsEntry("authorization", "Basic c2VjcmV0")
                    .containsKeys("webhook-id", "webhook-signature", "webhook-timestamp");
        }
        assertThat(bodies.get(0)).contains("step-1");
        assertThat(bodies.get(1)).contains("step-2").contains("\"append\":true");
        assertThat(bodies.get(2)).contains("step-3");
        assertThat(bodies.get(3)).contains("TASK_STATE_COMPLETED");
        for (String body : bodies) {
            Map<?, ?> event = (Map<?, ?>) Json.read(body.getBytes(UTF_8), Map.class)
                    .values()
                    .iterator()
                    .next();
            assertThat(event.get("taskId")).isEqualTo(task.id());
            assertThat(event.get("contextId")).isEqualTo(task.contextId());
        }
    }

    @Test
    void aWebhookThatComesWithAMessageGetsItsEvents() throws Exception {
        PushRelay.Begun begun = gateway.relay().begin(remote(), hook(), Map.of(), CallContext.anonymous());
        Task task = begun(begun.config());
        gateway.relay().bound(begun.id(), task.id(), task.contextId(), null);
        steps.release(3);

        assertThat(receiver.until("TASK_STATE_COMPLETED")).contains("begun", "step-1", "step-2", "step-3");
    }

    @Test
    void aTaskThatWaitsForItsCallerIsRelayedAfterARestart() throws Exception {
        var first = Message.user(Part.text("ask"));
        Task task = (Task) client.send(first);
        registered(task);
        client.send(Message.user(Part.text("ask again")).in(task.contextId(), task.id()));
        assertThat(receiver.until("TASK_STATE_INPUT_REQUIRED")).contains("thinking");

        int port = URI.create(gatewayHub.url()).getPort();
        gatewayHub.close();
        gatewayHub = gateway(port);
        client.send(Message.user(Part.text("done")).in(task.contextId(), task.id()));

        String rest = receiver.until("TASK_STATE_COMPLETED");
        // The delivery that the stop cut off from its record is repeated, once and before all others.
        assertThat(rest).doesNotContainPattern("(?s)(INPUT_REQUIRED|WORKING).*INPUT_REQUIRED");
    }

    @Test
    void configsAreReadAndDeletedWithoutTheAgent() {
        Task task = begun(null);
        registered(task);
        var caller = CallContext.anonymous();
        CallContext other = CallContext.of("mallory", new CallContext.Scope("default", "mallory"));

        PushConfig read = gateway.relay().get("worker", new Operation.GetPushConfig(null, task.id(), "mine"), caller);
        assertThat(read.url()).isEqualTo(hook().url());
        assertThat(read.token()).isNull();
        assertThat(gateway.relay().list("worker", task.id(), caller).configs()).containsExactly(read);
        assertThat(gateway.relay().list("worker", task.id(), other).configs()).isEmpty();
        gateway.relay().delete(remote(), new Operation.DeletePushConfig(null, task.id(), "mine"), caller);
        assertThat(gateway.relay().list("worker", task.id(), caller).configs()).isEmpty();
        assertThat(client.pushConfigs(task.id()))
                .as("the webhook of the gateway is gone too")
                .isEmpty();
    }

    @Test
    void aRelayWhoseShadowIsGoneIsForgotten() throws Exception {
        Task task = begun(null);
        registered(task);
        steps.release(3);
        receiver.until("TASK_STATE_COMPLETED");
        int port = URI.create(gatewayHub.url()).getPort();
        gatewayHub.close();
        try (Connection database =
                        DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("gateway/parley.db"));
                Statement statement = database.createStatement()) {
            statement.executeUpdate("DELETE FROM task"); // as after the retention, before the sweep of the day
        }
        gatewayHub = gateway(port);

        gateway.relay().forget("worker");

        assertThat(gateway.relay()
                        .list("worker", task.id(), CallContext.anonymous())
                        .configs())
                .isEmpty();
    }

    @Test
    void aForgedNotificationIsNotKnown() throws Exception {
        Task task = begun(null);
        registered(task);
        String url = client.pushConfigs(task.id()).getFirst().url();
        try (HttpClient http = HttpClient.newHttpClient()) {
            for (String token : List.of("", "wrong")) {
                HttpRequest forged = HttpRequest.newBuilder(URI.create(url))
                        .header("X-A2A-Notification-Token", token.isEmpty() ? "-" : token)
                        .POST(BodyPublishers.ofString("{}"))
                        .build();
                assertThat(http.send(forged, BodyHandlers.ofString()).statusCode())
                        .isEqualTo(404);
            }
        }
        assertThat(receiver.left()).isEmpty();
        try (AgentClient shadows = AgentClient.connect(gatewayHub.url() + "/agents/" + NAME)) {
            assertThatThrownBy(() -> shadows.send("hello")).isInstanceOf(A2AException.class);
        }
        try (HttpClient http = HttpClient.newHttpClient()) {
            var list = HttpRequest.newBuilder(URI.create(gatewayHub.url() + "/agents"))
                    .build();
            assertThat(http.send(list, BodyHandlers.ofString()).body())
                    .as("no agent for callers")
                    .doesNotContain(NAME);
        }
    }

    @Test
    void aForbiddenAddressIsRefusedBeforeTheAgentIsCalled() {
        Task task = begun(null);
        var inner = new PushConfig(null, null, null, "http://169.254.169.254/latest", null, null);

        assertThatThrownBy(() -> gateway.relay()
                        .create(remote(), task.id(), task.contextId(), null, inner, CallContext.anonymous()))
                .isInstanceOf(A2AException.class);

        assertThat(client.pushConfigs(task.id())).isEmpty();
    }

    @Test
    void notificationsGoOnAfterBothHubsWereStopped() throws Exception {
        Task task = begun(null);
        registered(task);
        steps.release();
        assertThat(receiver.next().body()).contains("step-1");

        int port = URI.create(remoteHub.url()).getPort();
        remoteHub.close();
        remoteHub = remote(port);
        steps.release();
        assertThat(receiver.until("step-2")).doesNotContain("step-1");

        int gatewayPort = URI.create(gatewayHub.url()).getPort();
        gatewayHub.close();
        gatewayHub = gateway(gatewayPort);
        steps.release();
        String rest = receiver.until("TASK_STATE_COMPLETED");

        assertThat(rest).contains("step-3").doesNotContain("step-1", Notices.NUMBER);
        // The delivery that the stop cut off from its record is repeated, once and in its place.
        assertThat(rest).doesNotContainPattern("(?s)step-2.*step-2|step-3.*step-2");
    }
}
