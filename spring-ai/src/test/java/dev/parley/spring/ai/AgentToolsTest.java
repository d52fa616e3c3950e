package dev.parley.spring.ai;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.ScriptedAgents;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import reactor.core.Disposable;

/** Chat clients of Spring AI whose models call the agents of a hub, over HTTP. */
@Timeout(60)
final class AgentToolsTest {
    private static final String ALICES_KEY = "alices-key-of-32-characters-00001";
    private static final String BOBS_KEY = "bobs-key-of-32-characters-0000002";
    private static final Pattern TASK_ID = Pattern.compile("taskId \"([^\"]+)\"");
    private static final ChatModel OBEYING = Models.answering(Models::obeying);

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    @Test
    void eachAgentIsAToolWithTheSkillsOfItsCard() throws IOException {
        Hub hub = hub(
                trips(), Agent.named("a.b", "Has a point in its name").handle((request, reply) -> reply.complete()));

        List<ToolDefinition> tools = Arrays.stream(
                        AgentTools.of(client(hub, "trips"), client(hub, "a.b"), client(hub, "trips"))
                                .getToolCallbacks())
                .map(ToolCallback::getToolDefinition)
                .toList();

        assertThat(tools).extracting(ToolDefinition::name).containsExactly("trips", "a_b", "trips_2");
        assertThat(tools.getFirst().description())
                .isEqualTo("Plans trips by train\n- plan: Plans a trip to the place that the first message names");
        assertThat(tools.getFirst().inputSchema())
                .startsWith("{\"type\":\"object\",\"properties\":{\"message\":{\"type\":\"string\",")
                .endsWith("\"required\":[\"message\"]}");
    }

    @Test
    void aModelAnswersTheQuestionOfAnAgent() throws IOException {
        Hub hub = hub(trips());
        var results = new ArrayList<String>();
        ChatModel model = Models.answering(messages -> {
            if (!(messages.getLast() instanceof ToolResponseMessage response)) {
                return Models.calling("trips", "{\"message\": \"Lisbon\"}");
            }
            String result = Models.result(response);
            results.add(result);
            Matcher taskId = TASK_ID.matcher(result);
            return taskId.find()
                    ? Models.calling("trips", "{\"message\": \"3\", \"taskId\": \"" + taskId.group(1) + "\"}")
                    : new AssistantMessage(result);
        });

        assertThat(new TravelDesk(model, client(hub, "trips")).chat("c", "A trip to Lisbon, please"))
                .isEqualTo("3 days in Lisbon");
        assertThat(results).hasSize(2);
        assertThat(results.getFirst()).startsWith("The agent asks: For how many days?\n");
    }

    @Test
    void aModelContinuesNoTaskOfAnotherConversation() throws IOException {
        Hub hub = hub(trips());
        var desk = new TravelDesk(OBEYING, client(hub, "trips"));
        String question = desk.chat("first", "trips {\"message\": \"Lisbon\"}");

        String answer = "trips {\"message\": \"3\", \"taskId\": \"" + taskId(question) + "\"}";

        assertThat(desk.chat("second", answer))
                .startsWith("Error: taskId ")
                .contains("not a task of this conversation");
        assertThat(desk.chat("first", answer)).isEqualTo("3 days in Lisbon");
    }

    @Test
    void theConversationOfAnAgentIsThatOfItsRequest() throws IOException {
        AgentTools tools = AgentTools.of(client(hub(trips()), "trips"));

        requireConversations(ChatAgent.streaming(client(OBEYING, tools)));
    }

    @Test
    void toolsThatAreReadBeforeAllRequestsHaveTheConversationOfEachRequest() throws IOException {
        Object[] tools = AgentTools.of(client(hub(trips()), "trips")).getToolCallbacks();

        requireConversations(ChatAgent.answering(client(OBEYING, tools)));
    }

    /** Requires that a caller cannot answer the question that the agent has asked another caller. */
    private void requireConversations(ChatAgent desk) throws IOException {
        Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .callers(Callers.builder()
                        .apiKey("alice", ALICES_KEY)
                        .apiKey("bob", BOBS_KEY)
                        .build())
                .authentication(Authentication.of(Scheme.API_KEY))
                .agents(Agent.named("desk", "Asks").handle(desk))
                .start();
        open.add(hub);
        AgentClient alice = AgentClient.builder().apiKey(ALICES_KEY).connect(hub.agentUrl("desk"));
        open.add(alice);
        AgentClient bob = AgentClient.builder().apiKey(BOBS_KEY).connect(hub.agentUrl("desk"));
        open.add(bob);
        String question =
                text(alice.send(user("trips {\"message\": \"Lisbon\"}").in("c", null)));

        Message answer = user("trips {\"message\": \"3\", \"taskId\": \"" + taskId(question) + "\"}")
                .in("c", null);

        assertThat(text(bob.send(answer))).contains("not a task of this conversation");
        assertThat(text(alice.send(answer))).isEqualTo("3 days in Lisbon");
    }

    @Test
    void eachOutcomeIsAResult() throws IOException {
        Hub hub = hub(
                ScriptedAgents.failing(),
                ScriptedAgents.rejecting(),
                ScriptedAgents.authRequired(),
                ScriptedAgents.messageOnly(),
                Agent.named("quiet", "Says nothing").handle((request, reply) -> reply.complete()),
                Agent.named("table", "Makes a table")
                        .handle((request, reply) -> reply.complete(Part.data(Map.of("rows", 2)))),
                Agent.named("picky", "Is not there")
                        .refusing(() -> Optional.of(A2AException.of(A2AError.UNSUPPORTED_OPERATION)))
                        .handle((request, reply) -> reply.complete()));

        Map.of(
                        "failing", "Error: The task is failed: ",
                        "rejecting", "Error: The task is rejected",
                        "auth-required", "The agent needs a credential of the user: Please sign in",
                        "message-only", "hello",
                        "quiet", "Completed, without a text",
                        "table", "{\"rows\":2}",
                        "picky", "Error: The agent refused the call: ")
                .forEach((name, result) -> assertThat(new TravelDesk(OBEYING, client(hub, name))
                                .chat("c", name + " {\"message\": \"hello\"}"))
                        .startsWith(result));
    }

    @Test
    void argumentsWithoutAMessageAreAnError() throws IOException {
        Hub hub = hub(trips());
        var desk = new TravelDesk(OBEYING, client(hub, "trips"));

        assertThat(desk.chat("c", "trips {\"text\": \"Lisbon\"}")).startsWith("Error: message: missing");
        assertThat(desk.chat("c", "trips ")).startsWith("Error: message: missing");
    }

    @Test
    void longAnswersAreCut() throws IOException {
        Hub hub = hub(
                Agent.named("book", "Is long").handle((request, reply) -> reply.complete("go on ".repeat(20_000))),
                Agent.named("asks", "Asks at length")
                        .handle((request, reply) -> reply.askForInput("why? ".repeat(30_000))));

        Map.of("book", "of 120,000 characters", "asks", "\nThe task waits for the answer: ")
                .forEach((name, text) -> assertThat(
                                new TravelDesk(OBEYING, client(hub, name)).chat("c", name + " {\"message\": \"go\"}"))
                        .contains("[cut: the first 100,000 ")
                        .contains(text)
                        .hasSizeLessThan(101_000));
    }

    @Test
    void aToolOfTheApplicationAndAnAgentOfTheSameNameAreRefused() throws IOException {
        Hub hub = hub(trips());
        ChatClient desk = client(OBEYING, AgentTools.of(client(hub, "trips")), AgentTools.of(client(hub, "trips")));

        assertThatThrownBy(() -> desk.prompt("trips {}").call().content()).hasMessageContaining("trips");
    }

    @Test
    void theCredentialsAreThoseOfTheClient() throws IOException {
        Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .callers(Callers.builder().apiKey("alice", ALICES_KEY).build())
                .authentication(Authentication.of(Scheme.API_KEY))
                .agents(Agent.named("whoami", "Names its caller")
                        .handle((request, reply) ->
                                reply.complete(request.context().caller())))
                .start();
        open.add(hub);
        AgentClient alice = AgentClient.builder().apiKey(ALICES_KEY).connect(hub.agentUrl("whoami"));
        open.add(alice);

        assertThat(new TravelDesk(OBEYING, alice).chat("c", "whoami {\"message\": \"?\"}"))
                .isEqualTo("alice");
        assertThat(new TravelDesk(OBEYING, client(hub, "whoami")).chat("c", "whoami {\"message\": \"?\"}"))
                .startsWith("Error: The agent refused the call: ");
    }

    @Test
    void aTaskThatTakesTooLongIsCanceled() throws Exception {
        Hub hub = hub(ScriptedAgents.slow(new CountDownLatch(1)));
        AgentClient slow = client(hub, "slow");
        ChatClient desk = client(OBEYING, AgentTools.of(slow).withTimeout(Duration.ofSeconds(1)));

        String result = desk.prompt("slow {\"message\": \"go\"}").call().content();

        assertThat(result).isEqualTo("Error: The agent has not answered within 1.0 s; the task was canceled");
        assertThat(slow.allTasks(ListTasks.all())).extracting(Task::state).containsExactly(TaskState.CANCELED);
        assertThatThrownBy(() -> AgentTools.of(slow).withTimeout(Duration.ZERO)).hasMessageContaining("> 0");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theEndOfAnAgentsTaskCancelsTheTaskThatItsModelHasBegun(boolean streaming) throws Exception {
        AgentClient slow = client(hub(ScriptedAgents.slow(new CountDownLatch(1))), "slow");
        ChatClient desk = client(OBEYING, AgentTools.of(slow));
        Hub hub = hub(
                Agent.named("desk", "Asks").handle(streaming ? ChatAgent.streaming(desk) : ChatAgent.answering(desk)));
        AgentClient client = client(hub, "desk");
        try (TaskStream events = client.stream("slow {\"message\": \"go\"}")) {
            Task begun = (Task) events.next();
            Eventually.holds(
                    "the remote task exists",
                    () -> slow.allTasks(ListTasks.all()).iterator().hasNext());

            assertThat(client.cancel(begun.id()).state()).isEqualTo(TaskState.CANCELED);
        }

        Eventually.holds(
                "the remote task is canceled",
                () -> slow.allTasks(ListTasks.all()).iterator().next().state() == TaskState.CANCELED);
    }

    /** The stream is canceled while the agent takes the message, before the client knows the id of the task. */
    @Test
    void aCanceledStreamOfAnApplicationCancelsTheTaskThatItsModelBegins() throws Exception {
        var sent = new CountDownLatch(1);
        var canceled = new CountDownLatch(1);
        AgentClient slow = client(
                hub(Agent.named("slow", "Takes its time")
                        .refusing(() -> {
                            sent.countDown();
                            awaitStubbornly(canceled);
                            return Optional.empty();
                        })
                        .handle((request, reply) -> new CountDownLatch(1).await())),
                "slow");
        ChatClient desk = client(OBEYING, AgentTools.of(slow));
        Disposable answer =
                desk.prompt("slow {\"message\": \"go\"}").stream().content().subscribe();
        assertThat(sent.await(30, TimeUnit.SECONDS)).isTrue();

        answer.dispose();
        canceled.countDown();

        Eventually.holds(
                "the remote task is canceled", () -> List.of(TaskState.CANCELED).equals(states(slow)));
    }

    private static List<TaskState> states(AgentClient agent) {
        var states = new ArrayList<TaskState>();
        agent.allTasks(ListTasks.all()).forEach(task -> states.add(task.state()));
        return states;
    }

    private static void awaitStubbornly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    @Test
    void aModelThatCallsItsOwnAgentIsRefused() throws IOException {
        AtomicReference<ChatAgent> desk = new AtomicReference<>();
        Hub hub = hub(Agent.named("loop", "Calls itself")
                .handle((request, reply) -> requireNonNull(desk.get()).handle(request, reply)));
        AgentClient own = client(hub, "loop");
        desk.set(ChatAgent.streaming(client(OBEYING, AgentTools.of(own))));

        assertThat(text(own.send("loop {\"message\": \"loop {}\"}"))).startsWith("Error: The agent refused the call: ");
    }

    @Test
    void aModelThatCallsTheAgentOfAPlainHandlerIsRefused() throws IOException {
        AtomicReference<ChatClient> desk = new AtomicReference<>();
        Hub hub = hub(Agent.named("loop", "Calls itself").handle((request, reply) -> {
            ChatClient client = requireNonNull(desk.get());
            reply.complete(requireNonNull(client.prompt(request.text()).call().content()));
        }));
        AgentClient own = client(hub, "loop");
        desk.set(client(OBEYING, AgentTools.of(own)));

        assertThat(text(own.send("loop {\"message\": \"loop {}\"}"))).startsWith("Error: The agent refused the call: ");
    }

    private static ChatClient client(ChatModel model, Object... tools) {
        return ChatClient.builder(model).defaultTools(tools).build();
    }

    private static String taskId(@Nullable String result) {
        Matcher matcher = TASK_ID.matcher(requireNonNull(result));
        assertThat(matcher.find()).as(result).isTrue();
        return matcher.group(1);
    }

    private static String text(Object result) {
        return ((Task) result).text();
    }

    private static Message user(String text) {
        return Message.user(Part.text(text));
    }

    private Hub hub(Agent... agents) throws IOException {
        Hub hub = Hub.builder().inMemory().port(0).agents(agents).start();
        open.add(hub);
        return hub;
    }

    private AgentClient client(Hub hub, String agent) {
        AgentClient client = AgentClient.connect(hub.agentUrl(agent));
        open.add(client);
        return client;
    }

    private static Agent trips() {
        return Agent.named("trips", "Plans trips by train")
                .skill("plan", "Plans a trip to the place that the first message names", "travel")
                .handle((request, reply) -> {
                    if (request.history().isEmpty()) {
                        reply.askForInput("For how many days?");
                    } else {
                        reply.complete(request.text() + " days in "
                                + request.history().getFirst().text());
                    }
                });
    }
}
