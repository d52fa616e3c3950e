package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.engine.Agent;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client and the server of gRPC with each other, in both versions: every operation, over the loopback interface. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GrpcClientTest {
    private final CountDownLatch mayGo = new CountDownLatch(1);
    private Hub hub;

    @BeforeAll
    void start() {
        var agent = Agent.named("talker", "Asks, waits, or says it again")
                .inputModes("*/*")
                .handle((request, reply) -> {
                    switch (request.text()) {
                        case "ask" -> reply.askForInput("what?");
                        case "wait" -> {
                            reply.working("waiting");
                            mayGo.await();
                            reply.complete("waited");
                        }
                        case "message" -> reply.message("no task");
                        default -> reply.complete(request.parts().toArray(Part[]::new));
                    }
                });
        var other = Agent.named("other", "Is called by its name")
                .outputModes("text/plain")
                .handle((request, reply) -> reply.complete("the other one"));
        hub = Hub.builder()
                .port(0)
                .inMemory()
                .grpcOnCards(true)
                .agents(agent, other)
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO)
                .start();
    }

    @AfterAll
    void stop() {
        mayGo.countDown();
        hub.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    void messagesAreSent(String version) {
        try (AgentClient client = client(version)) {
            assertThat(client.address().protocolBinding()).isEqualTo(AgentCard.Interface.GRPC);
            assertThat(client.address().protocolVersion()).isEqualTo(version);

            var task = (Task) client.send("Grüße");
            assertThat(task.text()).isEqualTo("Grüße");
            assertThat(((Message) client.send("message")).text()).isEqualTo("no task");

            Task asked = (Task) client.send("ask");
            assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
            Message followUp = Message.user(Part.text("this")).in(asked.contextId(), asked.id());
            assertThat(((Task) client.send(followUp)).text()).isEqualTo("this");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    @DisplayName("GEM09: an agent that declares its output modes refuses callers that accept none of them")
    void acceptedOutputModesWithoutIntersectionAreRefused(String version) {
        try (AgentClient client = AgentClient.builder()
                .prefer(AgentCard.Interface.GRPC)
                .version(version)
                .connect(hub.agentUrl("other"))) {
            Message message = Message.user(Part.text("hello"));
            var pictures = new SendConfiguration(List.of("image/png"), null, null, false);
            var texts = new SendConfiguration(List.of("text"), null, null, false);

            assertRefused(A2AError.CONTENT_TYPE_NOT_SUPPORTED, () -> client.send(message, pictures));
            assertThat(((Task) client.send(message, texts)).text()).isEqualTo("the other one");
        }
    }

    @Test
    void everyKindOfContentGoesBothWays() {
        var parts = List.of(
                new Part.Text("text", null, "text/plain", Map.of("a", 1)),
                Part.file("a.bin", "application/octet-stream", new byte[] {0, 1, (byte) 255}),
                Part.link("https://files.example.com/a", "a", "text/csv"),
                Part.data(Map.of("list", List.of(1, 2.5, "three", true, Map.of()))));
        try (AgentClient client = client("1.0")) {
            Task task = (Task) client.send(Message.user(parts.toArray(Part[]::new)));

            assertThat(task.artifacts().getFirst().parts()).isEqualTo(parts);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    void streamsBringWhatHappensUntilTheTaskEnds(String version) {
        try (AgentClient client = client(version);
                var stream = client.stream("hello")) {
            var events = new ArrayList<TaskEvent>();
            stream.forEachRemaining(events::add);

            Task task = (Task) events.getFirst();
            for (TaskEvent event : events.subList(1, events.size())) {
                task = event.applyTo(task);
            }
            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    void tasksAreReadWatchedAndCanceled(String version) {
        try (AgentClient client = client(version)) {
            Task task = (Task)
                    client.send(Message.user(Part.text("wait")), new SendConfiguration(List.of(), null, null, true));

            assertThat(client.task(task.id()).state().isTerminal()).isFalse();
            try (var stream = client.subscribe(task.id())) {
                assertThat(stream.next()).isInstanceOf(Task.class);
                assertThat(client.cancel(task.id()).state()).isEqualTo(TaskState.CANCELED);
                var left = new ArrayList<TaskEvent>();
                stream.forEachRemaining(left::add);
                assertThat(left.getLast()).isInstanceOf(TaskStatusUpdateEvent.class);
            }
            assertRefused(A2AError.TASK_NOT_CANCELABLE, () -> client.cancel(task.id()));
            assertRefused(A2AError.TASK_NOT_FOUND, () -> client.task("unknown"));
            assertRefused(
                    A2AError.UNSUPPORTED_OPERATION,
                    () -> client.subscribe(task.id()).hasNext());
        }
    }

    @Test
    void tasksAreListedInPages() {
        try (AgentClient client = client("1.0")) {
            Task first = (Task) client.send("one");
            Message again = Message.user(Part.text("two")).in(first.contextId(), null);
            Task second = (Task) client.send(again);

            var query = new Operation.ListTasks(
                    null, first.contextId(), TaskState.COMPLETED, 1, null, 0, Instant.EPOCH, true);
            var page = client.tasks(query);

            assertThat(page.totalSize()).isEqualTo(2);
            assertThat(page.tasks()).singleElement().extracting(Task::id).isEqualTo(second.id());
            assertThat(page.tasks().getFirst().artifacts()).isNotEmpty();
            assertThat(client.allTasks(query)).extracting(Task::id).containsExactly(second.id(), first.id());
        }
        try (AgentClient client = client("0.3")) {
            assertRefused(A2AError.UNSUPPORTED_OPERATION, () -> client.tasks(Operation.ListTasks.all()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    void webhooksAreRegisteredReadListedAndRemoved(String version) {
        try (AgentClient client = client(version)) {
            Task task = (Task) client.send("ask");
            var wanted = new PushConfig(
                    null,
                    "hook",
                    task.id(),
                    "http://127.0.0.1:9/hook",
                    "the token",
                    new PushConfig.Authentication("Bearer", "secret"));

            PushConfig created = client.createPushConfig(wanted);
            assertThat(created)
                    .usingRecursiveComparison()
                    .ignoringFields("tenant", "token", "authentication")
                    .isEqualTo(wanted);
            assertThat(created.token()).isNull();
            assertThat(created.authentication()).isEqualTo(new PushConfig.Authentication("Bearer", null));
            assertThat(client.pushConfig(task.id(), "hook")).isEqualTo(created);
            assertThat(client.pushConfigs(task.id())).containsExactly(created);
            client.deletePushConfig(task.id(), "hook");
            assertThat(client.pushConfigs(task.id())).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    void withoutAnExtendedCardThereIsNone(String version) {
        try (AgentClient client = client(version)) {
            assertRefused(A2AError.UNSUPPORTED_OPERATION, client::extendedCard);
        }
    }

    @Test
    void aDeadlineEndsTheWaitAndNotTheTask() {
        try (AgentClient client = client("1.0")) {
            // The time shall not be over before there is a connection.
            client.send("hello");
            var soon = CallContext.anonymous().withDeadline(Instant.now().plusMillis(300));
            Message message = Message.user(Part.text("wait"));

            // Whether the agent's side or this one is first to notice, is chance.
            try {
                Task task = (Task) client.call(Operation.SendMessage.of(message), soon);
                assertThat(task.state().isTerminal()).isFalse();
            } catch (ClientException late) {
                assertThat(late.problem()).isEqualTo(ClientException.Problem.TIMED_OUT);
            }

            assertThat(client.allTasks(Operation.ListTasks.all()))
                    .filteredOn(task -> task.history().getFirst().messageId().equals(message.messageId()))
                    .singleElement()
                    .satisfies(task -> assertThat(task.state().isTerminal()).isFalse());
        }
    }

    @Test
    @DisplayName("GEM04: a task is the same over JSON-RPC, REST and gRPC")
    void aTaskIsTheSameOverEveryBinding() {
        try (AgentClient grpc = client("1.0")) {
            Task sent = (Task) grpc.send("seen by all");

            for (String binding : List.of("JSONRPC", "HTTP+JSON", "GRPC")) {
                try (AgentClient client =
                        AgentClient.builder().prefer(binding).version("1.0").connect(hub.agentUrl("talker"))) {
                    assertThat(client.address().protocolBinding()).isEqualTo(binding);
                    assertThat(client.task(sent.id()))
                            .usingRecursiveComparison()
                            .ignoringFieldsOfTypes(Instant.class)
                            .isEqualTo(sent);
                }
            }
        }
    }

    @Test
    void theTenantOfTheCardLeadsToTheAgent() {
        try (AgentClient client =
                AgentClient.builder().prefer(AgentCard.Interface.GRPC).connect(hub.agentUrl("other"))) {
            assertThat(client.address().tenant()).isEqualTo("other");
            assertThat(((Task) client.send("hello")).text()).isEqualTo("the other one");
        }
    }

    @Test
    void whereNobodyListensThatIsSaid() {
        AgentCard card;
        try (AgentClient client = client("1.0")) {
            card = client.card();
        }
        var nowhere = new AgentCard(
                card.name(),
                card.description(),
                List.of(new AgentCard.Interface("127.0.0.1:1", AgentCard.Interface.GRPC, null, "1.0")),
                null,
                card.version(),
                null,
                card.capabilities(),
                Map.of(),
                List.of(),
                card.defaultInputModes(),
                card.defaultOutputModes(),
                card.skills(),
                List.of(),
                null);

        try (AgentClient client = AgentClient.builder().retries(0).of(nowhere)) {
            assertThatExceptionOfType(ClientException.class)
                    .isThrownBy(() -> client.send("hello"))
                    .extracting(ClientException::problem)
                    .isEqualTo(ClientException.Problem.UNREACHABLE);
        }
    }

    private AgentClient client(String version) {
        return AgentClient.builder()
                .prefer(AgentCard.Interface.GRPC)
                .version(version)
                .connect(hub.agentUrl("talker"));
    }

    private static void assertRefused(A2AError error, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refusal -> assertThat(refusal.error()).isEqualTo(error));
    }
}
