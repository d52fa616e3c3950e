package dev.parley.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of callers of an agent whose card says that it has none. */
@Timeout(60)
@Tag("heavy")
final class SilentCapabilityTest {
    private final Hub hub = Hub.builder()
            .inMemory()
            .port(0)
            .drain(Duration.ZERO)
            .set("gateway-allow", "localhost")
            .start();
    private final ConcurrentLinkedQueue<String> methods = new ConcurrentLinkedQueue<>();
    private FakeAgent agent;

    @BeforeEach
    void begin() throws Exception {
        agent = new FakeAgent();
        agent.card = agent.card("false", "[]", "talk");
    }

    @AfterEach
    void end() {
        hub.close();
        agent.close();
    }

    private AgentClient client(String binding) throws Exception {
        Admin.of(hub).add("quiet", agent.url(), Map.of());
        return AgentClient.builder().prefer(binding).retries(0).reconnects(0).connect(hub.agentUrl("quiet"));
    }

    private static String task(String state, String text) {
        String artifacts = text.isEmpty() ? "[]" : "[{\"artifactId\":\"a\",\"parts\":[{\"text\":\"" + text + "\"}]}]";
        return "{\"id\":\"t\",\"contextId\":\"c\",\"status\":{\"state\":\"TASK_STATE_" + state
                + "\",\"timestamp\":\"2026-01-01T00:00:00Z\"},\"artifacts\":" + artifacts + "}";
    }

    private void answer(String... reads) {
        var turn = new AtomicInteger();
        agent.results = request -> {
            String method = String.valueOf(request.get("method"));
            methods.add(method);
            return switch (method) {
                case "SendMessage" -> "\"result\":{\"task\":" + task("WORKING", "") + "}";
                case "GetTask" -> "\"result\":" + reads[Math.min(turn.getAndIncrement(), reads.length - 1)];
                default -> "\"error\":{\"code\":-32603,\"message\":\"acted on " + method + "\"}";
            };
        };
    }

    private static List<String> seen(TaskStream stream) {
        var seen = new ArrayList<String>();
        while (stream.hasNext()) {
            TaskEvent event = stream.next();
            seen.add(
                    switch (event) {
                        case Task task -> "task " + task.state();
                        case TaskStatusUpdateEvent update ->
                            "status " + update.status().state();
                        case TaskArtifactUpdateEvent update ->
                            "artifact " + update.artifact().parts().size();
                        default -> "message";
                    });
        }
        return seen;
    }

    @ParameterizedTest
    @DisplayName("C5: a stream is served from a send and reads")
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    void aStreamIsServedFromASendAndReads(String binding) throws Exception {
        answer(task("WORKING", ""), task("WORKING", "half"), task("COMPLETED", "half and rest"));
        try (AgentClient client = client(binding);
                TaskStream stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("task WORKING", "artifact 1", "artifact 1", "status COMPLETED");
        }
        assertThat(methods).startsWith("SendMessage").contains("GetTask").doesNotContain("SendStreamingMessage");
    }

    @Test
    @DisplayName("C5: a subscription is served from reads, and refused if the task has ended")
    void aSubscriptionIsServedFromReads() throws Exception {
        answer(task("WORKING", ""), task("COMPLETED", "done"));
        try (AgentClient client = client("JSONRPC")) {
            client.send("go");
            try (var events = client.watch(SubscribeToTask.of("t"), CallContext.anonymous())) {
                var first = events.next(Duration.ofSeconds(20));
                assertThat(first).isNotEmpty();
            }
            A2AException ended = catchThrowableOfType(A2AException.class, () -> {
                try (var events = client.watch(SubscribeToTask.of("t"), CallContext.anonymous())) {
                    var unused = events.next(Duration.ofSeconds(20));
                }
            });
            assertThat(ended).isNotNull();
            assertThat(ended.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION);
        }
        assertThat(methods).doesNotContain("SubscribeToTask");
    }

    @Test
    @DisplayName("C5: an agent that refuses the subscription that its card promises is read")
    void aSubscriptionThatTheCardPromisesInVainIsServedFromReads() throws Exception {
        answer(task("WORKING", ""), task("WORKING", "half"), task("COMPLETED", "half"));
        Function<Map<?, ?>, String> results = agent.results;
        agent.results = request -> "SubscribeToTask".equals(request.get("method"))
                ? "\"error\":{\"code\":-32601,\"message\":\"no such method\"}"
                : results.apply(request);
        agent.card = agent.card("true", "[]", "talk");
        try (AgentClient client = client("JSONRPC")) {
            client.send("go");
            try (TaskStream stream = client.subscribe("t")) {
                assertThat(seen(stream)).endsWith("artifact 1", "status COMPLETED");
            }
        }
    }

    @Test
    @DisplayName("C5: a stream of reads ends by the total timeout of the route, and says so")
    void aStreamOfReadsHasATimeLimit() throws Exception {
        answer(task("WORKING", ""));
        Admin.of(hub).add("quiet", agent.url(), Map.of("set", List.of("total-timeout=2s")));
        try (AgentClient client = AgentClient.builder().retries(0).reconnects(0).connect(hub.agentUrl("quiet"));
                TaskStream stream = client.stream("go")) {
            assertThat(stream.next()).isInstanceOf(Task.class);

            assertThatThrownBy(stream::hasNext).hasMessageContaining("total timeout of the gateway (PT2S)");
        }
    }

    @Test
    void anAnswerByMessageIsTheWholeStream() throws Exception {
        agent.results = request -> {
            methods.add(String.valueOf(request.get("method")));
            return "\"result\":{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"hi\"}]}}";
        };
        try (AgentClient client = client("JSONRPC");
                TaskStream stream = client.stream("go")) {
            assertThat(seen(stream)).containsExactly("message");
        }
        assertThat(methods).containsExactly("SendMessage");
    }

    @Test
    @DisplayName(
            "M6: extensions whose URIs are addresses behind the gateway are not on its card, and are activated if required")
    void innerAddressesOfExtensionsAreHidden() throws Exception {
        var activated = new ConcurrentLinkedQueue<String>();
        String inner = agent.url() + "/ext/v1";
        agent.card = agent.card.replace(
                "\"capabilities\":{",
                "\"capabilities\":{\"extensions\":[{\"uri\":\"" + inner
                        + "\",\"required\":true},{\"uri\":\"urn:x\",\"required\":false}],");
        answer(task("COMPLETED", "done"));
        agent.heads = headers -> activated.add(String.valueOf(headers.get("A2a-extensions")));
        try (AgentClient client = client("JSONRPC")) {
            assertThat(client.card().capabilities().extensions())
                    .extracting(extension -> extension.uri())
                    .contains("urn:x")
                    .noneMatch(uri -> uri.contains("127.0.0.1:" + agent.url().replaceAll(".*:", "")));
            client.send("go");
        }
        assertThat(activated).anyMatch(header -> header.contains(inner));
    }
}
