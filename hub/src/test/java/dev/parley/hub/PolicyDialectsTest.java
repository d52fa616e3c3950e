package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.ClientEndpointTest.Wire;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.trust.PolicyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A rule of a policy denies an operation by its name in the specification in every dialect over every binding. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("heavy")
final class PolicyDialectsTest {
    private static final String FREE = "free";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Operations that the other dialects lack, which the tests of their tables name, too. */
    private static final Set<String> NOT_IN_0_1 = Set.of(
            "ListTasks", "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig", "GetExtendedAgentCard");

    private static final Set<String> IN_AGENTVAULT = Set.of("SendMessage", "GetTask", "CancelTask", "SubscribeToTask");

    @TempDir
    private static Path directory;

    private Hub hub;

    static Stream<Arguments> operations() {
        return ClientEndpointTest.wires()
                .flatMap(wire -> Operation.NAMES.stream()
                        .filter(operation -> isKnown(wire, operation))
                        .map(operation -> Arguments.of(wire.version(), wire.binding(), operation, wire)));
    }

    private static boolean isKnown(Wire wire, String operation) {
        return switch (wire.version()) {
            case "0.3" -> !wire.binding().equals("GRPC") || !operation.equals("ListTasks");
            case "0.1", "kernel" -> !NOT_IN_0_1.contains(operation);
            case "agentvault" -> IN_AGENTVAULT.contains(operation);
            default -> true;
        };
    }

    private static String agentWithout(String operation) {
        return "without-" + Operation.NAMES.indexOf(operation);
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Asks back").handle((request, reply) -> reply.askForInput("What else?"));
    }

    @BeforeAll
    void start() throws Exception {
        var agents = new ArrayList<Agent>(List.of(agent(FREE)));
        var rules = new ArrayList<String>();
        for (String operation : Operation.NAMES) {
            agents.add(agent(agentWithout(operation)));
            rules.add("""
                    {"effect": "deny", "agents": ["%s"], "operations": ["%s"]}""".formatted(agentWithout(operation), operation));
        }
        Path policy = directory.resolve("policy.json");
        Files.writeString(policy, "{\"rules\": [" + String.join(", ", rules) + "]}");
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .grpcOnCards(true)
                .webhookAllow(List.of("127.0.0.1"))
                .policy(PolicyFile.read(policy))
                .agents(agents.toArray(Agent[]::new))
                .drain(Duration.ZERO)
                .start();
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    @ParameterizedTest(name = "{0} over {1}: {2}")
    @MethodSource("operations")
    void aRuleDeniesAnOperationByItsName(String version, String binding, String operation, Wire wire) throws Exception {
        A2AException allowed = refusal(FREE, operation, wire);
        A2AException denied = refusal(agentWithout(operation), operation, wire);

        assertThat(isDenied(allowed)).as(String.valueOf(allowed)).isFalse();
        assertThat(isDenied(denied)).as(String.valueOf(denied)).isTrue();
        assertThat(new Outsider(hub.url()).get("/metrics").body().lines())
                .anyMatch(line -> line.startsWith("parley_errors_total{agent=\"" + agentWithout(operation) + "\"")
                        && line.contains("operation=\"" + operation + "\""));
    }

    private static boolean isDenied(@Nullable A2AException refusal) {
        return refusal != null
                && (refusal.error() == A2AError.TASK_NOT_FOUND
                        || String.valueOf(refusal.getMessage()).contains("The policy of this hub does not allow it"));
    }

    /** The error of an operation about a task that exists; null for none. */
    private @Nullable A2AException refusal(String agent, String operation, Wire wire) throws Exception {
        String task = begin(agent);
        try (AgentClient client = client(agent, wire)) {
            call(client, operation(operation, task));
            return null;
        } catch (A2AException refused) {
            return refused;
        }
    }

    private AgentClient client(String agent, Wire wire) {
        return AgentClient.builder()
                .prefer(wire.binding())
                .version(wire.version())
                .connect(hub.agentUrl(agent) + wire.path());
    }

    /** Begins a task with the webhook {@code kept}, as far as the agent lets it be called. */
    private String begin(String agent) throws Exception {
        try (AgentClient client = client(agent, new Wire("", "JSONRPC", "1.0", Set.of()))) {
            boolean streams = agent.equals(agentWithout("SendMessage"));
            Object first = call(client, operation(streams ? "SendStreamingMessage" : "SendMessage", null));
            String task = ((Task) first).id();
            if (!agent.equals(agentWithout("CreateTaskPushNotificationConfig"))) {
                call(client, new Operation.CreatePushConfig(null, webhook(task, "kept")));
            }
            return task;
        }
    }

    private static Object call(AgentEndpoint client, Operation operation) throws InterruptedException {
        return switch (operation) {
            case Operation.Call<?> call -> client.call(call, CallContext.anonymous());
            case Operation.TaskWatch watch -> {
                try (var events = client.watch(watch, CallContext.anonymous())) {
                    yield first(events);
                }
            }
            default -> throw new IllegalArgumentException(operation.name());
        };
    }

    private static Object first(Feed<LoggedEvent> events) throws InterruptedException {
        var next = events.next(PATIENCE);
        assertThat(next).isNotEmpty();
        return requireNonNull(next).getFirst().event();
    }

    private static Operation operation(String name, @Nullable String task) {
        String id = String.valueOf(task);
        Message message = Message.user(Part.text("hello"));
        return switch (name) {
            case "SendMessage" -> new Operation.SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of());
            case "SendStreamingMessage" ->
                new Operation.SendStreamingMessage(null, message, SendConfiguration.DEFAULTS, Map.of());
            case "GetTask" -> Operation.GetTask.of(id);
            case "ListTasks" -> new Operation.ListTasks(null, null, null, null, null, null, null, false);
            case "CancelTask" -> Operation.CancelTask.of(id);
            case "SubscribeToTask" -> Operation.SubscribeToTask.of(id);
            case "CreateTaskPushNotificationConfig" -> new Operation.CreatePushConfig(null, webhook(id, "w"));
            case "GetTaskPushNotificationConfig" -> new Operation.GetPushConfig(null, id, "kept");
            case "ListTaskPushNotificationConfigs" -> new Operation.ListPushConfigs(null, id, 0, null);
            case "DeleteTaskPushNotificationConfig" -> new Operation.DeletePushConfig(null, id, "kept");
            case "GetExtendedAgentCard" -> new Operation.GetExtendedAgentCard(null);
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static PushConfig webhook(String task, String id) {
        return new PushConfig(null, id, task, "http://127.0.0.1:9/w", null, null);
    }
}
