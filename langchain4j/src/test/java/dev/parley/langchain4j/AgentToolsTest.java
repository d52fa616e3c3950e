package dev.parley.langchain4j;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.langchain4j.service.tool.AiServiceTool;
import dev.langchain4j.service.tool.ToolProviderRequest;
import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.langchain4j.AssistantAgent.Assistant;
import dev.parley.langchain4j.TravelDesk.Desk;
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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Services of LangChain4j whose models call the agents of a hub, over HTTP. */
@Timeout(60)
final class AgentToolsTest {
    private static final String KEY = "alices-key-of-32-characters-00001";
    private static final String BOBS_KEY = "bobs-key-of-32-characters-0000002";
    private static final Pattern TASK_ID = Pattern.compile("taskId \"([^\"]+)\"");

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
        AgentTools tools = AgentTools.of(client(hub, "trips"), client(hub, "a.b"), client(hub, "trips"));

        List<ToolSpecification> specifications = tools
                .provideTools(new ToolProviderRequest("1", dev.langchain4j.data.message.UserMessage.from("?")))
                .aiServiceTools()
                .stream()
                .map(AiServiceTool::toolSpecification)
                .toList();

        assertThat(specifications).extracting(ToolSpecification::name).containsExactly("trips", "a_b", "trips_2");
        assertThat(specifications.getFirst().description())
                .isEqualTo("Plans trips by train\n- plan: Plans a trip to the place that the first message names");
        assertThat(specifications.getFirst().parameters().required()).containsExactly("message");
    }

    @Test
    void aModelAnswersTheQuestionOfAnAgent() throws IOException {
        Hub hub = hub(trips());
        var results = new ArrayList<String>();
        Desk desk = desk(
                messages -> {
                    if (!(messages.getLast() instanceof ToolExecutionResultMessage result)) {
                        return Models.calling("trips", "{\"message\": \"Lisbon\"}");
                    }
                    results.add(result.text());
                    Matcher taskId = TASK_ID.matcher(result.text());
                    return taskId.find()
                            ? Models.calling("trips", "{\"message\": \"3\", \"taskId\": \"" + taskId.group(1) + "\"}")
                            : AiMessage.from(result.text());
                },
                client(hub, "trips"));

        assertThat(desk.chat("c", "A trip to Lisbon, please")).isEqualTo("3 days in Lisbon");
        assertThat(results).hasSize(2);
        assertThat(results.getFirst()).startsWith("The agent asks: For how many days?\n");
    }

    @Test
    void aModelContinuesNoTaskOfAnotherConversation() throws IOException {
        Hub hub = hub(trips());
        Desk desk = desk(Models::obeying, client(hub, "trips"));
        String asked = desk.chat("first", "trips {\"message\": \"Lisbon\"}");

        String answer = "trips {\"message\": \"3\", \"taskId\": \"" + taskId(asked) + "\"}";

        assertThat(desk.chat("second", answer))
                .startsWith("error: taskId ")
                .contains("not a task of this conversation");
        assertThat(desk.chat("first", answer)).isEqualTo("3 days in Lisbon");
        assertThat(desk.chat("first", answer)).startsWith("error: taskId ").contains("the task has ended");
    }

    interface Service {
        @UserMessage("{{text}}")
        String chat(@V("text") String text);
    }

    @Test
    void callersOfAServiceWithoutMemoryIdsHaveConversationsOfTheirOwn() throws IOException {
        Service service = AiServices.builder(Service.class)
                .chatModel(Models.answering(Models::obeying))
                .toolProvider(AgentTools.of(client(hub(trips()), "trips")))
                .build();
        Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .callers(Callers.builder()
                        .apiKey("alice", KEY)
                        .apiKey("bob", BOBS_KEY)
                        .build())
                .authentication(Authentication.of(Scheme.API_KEY))
                .agents(Agent.named("desk", "Asks").handle(ChatAgent.answering((memoryId, text) -> service.chat(text))))
                .start();
        open.add(hub);
        AgentClient alice = AgentClient.builder().apiKey(KEY).connect(hub.agentUrl("desk"));
        open.add(alice);
        AgentClient bob = AgentClient.builder().apiKey(BOBS_KEY).connect(hub.agentUrl("desk"));
        open.add(bob);
        Task question =
                (Task) alice.send(user("trips {\"message\": \"Lisbon\"}").in("c", null));

        Message answer = user("trips {\"message\": \"3\", \"taskId\": \"" + taskId(question.text()) + "\"}")
                .in("c", null);

        assertThat(((Task) bob.send(answer)).text()).contains("not a task of this conversation");
        assertThat(((Task) alice.send(answer)).text()).isEqualTo("3 days in Lisbon");
    }

    private static Message user(String text) {
        return Message.user(Part.text(text));
    }

    @Test
    void theTaskOfAConversationIsContinuedAfterARestart() throws IOException {
        Hub hub = hub(trips());
        String asked = desk(Models::obeying, client(hub, "trips")).chat("first", "trips {\"message\": \"Lisbon\"}");

        Desk restarted = desk(Models::obeying, client(hub, "trips"));

        assertThat(restarted.chat("first", "trips {\"message\": \"3\", \"taskId\": \"" + taskId(asked) + "\"}"))
                .isEqualTo("3 days in Lisbon");
    }

    @Test
    void theMemoryIdIsTheContextId() throws IOException {
        Hub hub = hub(Agent.named("context", "Tells its context")
                .handle((request, reply) -> reply.complete(request.contextId())));
        Desk desk = desk(Models::obeying, client(hub, "context"));

        assertThat(desk.chat("conversation-7", "context {\"message\": \"?\"}")).isEqualTo("conversation-7");
        assertThat(desk.chat("default", "context {\"message\": \"?\"}")).isNotEqualTo("default");
        assertThat(desk.chat("x".repeat(257), "context {\"message\": \"?\"}")).hasSizeLessThan(256);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "failing | error: The task is failed: ",
                "rejecting | error: The task is rejected",
                "auth-required | The agent needs a credential of the user: Please sign in",
                "message-only | hello",
                "quiet | Completed, without a text",
                "table | {\"rows\":2}",
                "no-streams | HELLO",
                "picky | error: The agent refused the call: "
            })
    void eachOutcomeIsAResult(String name, String result) throws IOException {
        Hub hub = hub(
                ScriptedAgents.failing(),
                ScriptedAgents.rejecting(),
                ScriptedAgents.authRequired(),
                ScriptedAgents.messageOnly(),
                Agent.named("quiet", "Says nothing").handle((request, reply) -> reply.complete()),
                Agent.named("table", "Makes a table")
                        .handle((request, reply) -> reply.complete(Part.data(Map.of("rows", 2)))),
                Agent.named("no-streams", "Shouts")
                        .streaming(false)
                        .handle((request, reply) ->
                                reply.complete(request.text().toUpperCase(Locale.ROOT))),
                Agent.named("picky", "Is not there")
                        .refusing(() -> Optional.of(A2AException.of(A2AError.UNSUPPORTED_OPERATION)))
                        .handle((request, reply) -> reply.complete()));
        Desk desk = desk(Models::obeying, client(hub, name));

        assertThat(desk.chat("c", name + " {\"message\": \"hello\"}")).startsWith(result);
    }

    @Test
    void longAnswersAreCut() throws IOException {
        Hub hub = hub(
                Agent.named("book", "Is long")
                        .handle((request, reply) -> reply.complete("x" + "\uD83D\uDE00".repeat(60_000))),
                Agent.named("asks", "Asks at length")
                        .handle((request, reply) -> reply.askForInput("why? ".repeat(30_000))),
                Agent.named("fails", "Fails at length").handle((request, reply) -> reply.fail("no ".repeat(50_000))));

        assertThat(desk(Models::obeying, client(hub, "book")).chat("c", "book {\"message\": \"go\"}"))
                .isEqualTo("x" + "\uD83D\uDE00".repeat(49_999)
                        + "\n[cut: the first 100,000 of 120,001 characters; ask for less at once]");
        assertThat(desk(Models::obeying, client(hub, "asks")).chat("c", "asks {\"message\": \"go\"}"))
                .contains("[cut: the first 100,000 of 150,016 characters", "\nThe task waits for the answer: ");
        assertThat(desk(Models::obeying, client(hub, "fails")).chat("c", "fails {\"message\": \"go\"}"))
                .contains("[cut: the first 100,000 of 150,020 characters")
                .hasSizeLessThan(101_000);
    }

    @Test
    void aToolOfTheServiceAndAnAgentOfTheSameNameAreRefused() throws IOException {
        Hub hub = hub(trips());
        Desk desk = AiServices.builder(Desk.class)
                .chatModel(Models.answering(Models::obeying))
                .chatMemoryProvider(id ->
                        MessageWindowChatMemory.builder().id(id).maxMessages(20).build())
                .tools(new Object() {
                    @SuppressWarnings("UnusedMethod") // LangChain4j calls it
                    @Tool("Plans trips by car")
                    String trips(String place) {
                        return "by car to " + place;
                    }
                })
                .toolProvider(AgentTools.of(client(hub, "trips")))
                .build();

        assertThatThrownBy(() -> desk.chat("c", "trips {\"message\": \"Lisbon\"}"))
                .hasMessageContaining("trips");
    }

    @Test
    void argumentsWithoutAMessageAreAnError() throws IOException {
        Hub hub = hub(trips());
        Desk desk = desk(Models::obeying, client(hub, "trips"));

        assertThat(desk.chat("c", "trips {\"text\": \"Lisbon\"}")).startsWith("error: message: missing");
        assertThat(desk.chat("c", "trips {\"message\": ")).startsWith("error: The agent refused the call: ");
        assertThat(desk.chat("c", "trips {\"message\": \"3\", \"taskId\": \"gone\"}"))
                .startsWith("error: taskId \"gone\": not a task");
    }

    @Test
    void theCredentialsAreThoseOfTheClient() throws IOException {
        Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .callers(Callers.builder().apiKey("alice", KEY).build())
                .authentication(Authentication.of(Scheme.API_KEY))
                .agents(Agent.named("whoami", "Names its caller")
                        .handle((request, reply) ->
                                reply.complete(request.context().caller())))
                .start();
        open.add(hub);
        AgentClient alice = AgentClient.builder().apiKey(KEY).connect(hub.agentUrl("whoami"));
        open.add(alice);

        assertThat(desk(Models::obeying, alice).chat("c", "whoami {\"message\": \"?\"}"))
                .isEqualTo("alice");
        assertThat(desk(Models::obeying, client(hub, "whoami")).chat("c", "whoami {\"message\": \"?\"}"))
                .startsWith("error: The agent refused the call: ");
    }

    @Test
    void anAgentThatIsGoneIsAnError() throws IOException {
        Hub hub = hub(trips());
        Desk desk = desk(Models::obeying, client(hub, "trips"));
        hub.close();

        assertThat(desk.chat("c", "trips {\"message\": \"Lisbon\"}"))
                .isEqualTo("error: No answer of the agent: UNREACHABLE");
    }

    @Test
    void aTaskThatTakesTooLongIsCanceled() throws Exception {
        Hub hub = hub(ScriptedAgents.slow(new CountDownLatch(1)));
        AgentClient slow = client(hub, "slow");
        Desk desk = AiServices.builder(Desk.class)
                .chatModel(Models.answering(Models::obeying))
                .chatMemoryProvider(id ->
                        MessageWindowChatMemory.builder().id(id).maxMessages(20).build())
                .toolProvider(AgentTools.of(slow).withTimeout(Duration.ofSeconds(1)))
                .build();

        String result = desk.chat("c", "slow {\"message\": \"go\"}");

        assertThat(result).isEqualTo("error: The agent has not answered within 1.0 s; the task was canceled");
        assertThat(slow.allTasks(ListTasks.all())).extracting(Task::state).containsExactly(TaskState.CANCELED);
        assertThatThrownBy(() -> AgentTools.of(slow).withTimeout(Duration.ZERO)).hasMessageContaining("> 0");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theEndOfAnAgentsTaskCancelsTheTaskThatItsModelHasBegun(boolean streaming) throws Exception {
        Hub remote = hub(ScriptedAgents.slow(new CountDownLatch(1)));
        AgentClient slow = client(remote, "slow");
        Hub hub = hub(Agent.named("desk", "Asks").handle(streaming ? streamingDesk(slow) : answeringDesk(slow)));
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

    private ChatAgent answeringDesk(AgentClient agent) {
        return ChatAgent.answering(desk(Models::obeying, agent)::chat);
    }

    private static ChatAgent streamingDesk(AgentClient agent) {
        Assistant assistant = AiServices.builder(Assistant.class)
                .streamingChatModel(Models.streaming(
                        (messages, handler) -> handler.onCompleteResponse(Models.response(Models.obeying(messages)))))
                .chatMemoryProvider(id ->
                        MessageWindowChatMemory.builder().id(id).maxMessages(20).build())
                .toolProvider(AgentTools.of(agent))
                .build();
        return ChatAgent.streaming(assistant::chat);
    }

    @Test
    void aModelThatCallsItsOwnAgentIsRefused() throws IOException {
        AtomicReference<ChatAgent> desk = new AtomicReference<>();
        Hub hub = hub(Agent.named("loop", "Calls itself")
                .handle((request, reply) -> requireNonNull(desk.get()).handle(request, reply)));
        AgentClient own = client(hub, "loop");
        desk.set(streamingDesk(own));

        Task task = (Task) own.send("loop {\"message\": \"loop {}\"}");

        assertThat(task.text()).startsWith("error: The agent refused the call: ");
    }

    @Test
    void aModelThatCallsTheAgentOfAPlainHandlerIsRefused() throws IOException {
        AtomicReference<Desk> desk = new AtomicReference<>();
        Hub hub = hub(Agent.named("loop", "Calls itself")
                .handle((request, reply) ->
                        reply.complete(requireNonNull(desk.get()).chat("c", request.text()))));
        AgentClient own = client(hub, "loop");
        desk.set(desk(Models::obeying, own));

        Task task = (Task) own.send("loop {\"message\": \"loop {}\"}");

        assertThat(task.text()).startsWith("error: The agent refused the call: ");
    }

    private static String taskId(String result) {
        Matcher matcher = TASK_ID.matcher(result);
        assertThat(matcher.find()).as(result).isTrue();
        return matcher.group(1);
    }

    private Desk desk(Function<List<ChatMessage>, AiMessage> script, AgentClient agent) {
        return TravelDesk.desk(Models.answering(script), agent);
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
