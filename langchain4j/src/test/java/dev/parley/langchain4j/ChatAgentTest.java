package dev.parley.langchain4j;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingHandle;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Services of LangChain4j as agents of a hub, called over HTTP. */
@Timeout(60)
final class ChatAgentTest {
    private static final String ALICES_KEY = "alices-key-of-32-characters-00001";
    private static final String BOBS_KEY = "bobs-key-of-32-characters-0000002";

    interface Assistant {
        @UserMessage("{{text}}")
        String chat(@MemoryId String conversation, @V("text") String text);
    }

    @Test
    void anAnswerIsTheArtifactOfTheTask() throws IOException {
        try (Hub hub = hub(listener());
                AgentClient agent = AgentClient.connect(hub.agentUrl("listener"))) {
            Task task = (Task) agent.send("hello");

            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(task.text()).isEqualTo("heard: hello");
        }
    }

    @Test
    void theTasksOfAContextShareTheMemory() throws IOException {
        try (Hub hub = hub(listener());
                AgentClient agent = AgentClient.connect(hub.agentUrl("listener"))) {
            Task first = (Task) agent.send("one");
            Task second = (Task) agent.send(user("two").in(first.contextId(), null));
            Task elsewhere = (Task) agent.send("three");

            assertThat(second.text()).isEqualTo("heard: one, two");
            assertThat(elsewhere.text()).isEqualTo("heard: three");
        }
    }

    @Test
    void callersThatNameTheSameContextHaveMemoriesOfTheirOwn() throws IOException {
        Callers callers = Callers.builder()
                .apiKey("alice", ALICES_KEY)
                .apiKey("bob", BOBS_KEY)
                .build();
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .callers(callers)
                        .authentication(Authentication.of(Scheme.API_KEY))
                        .agents(listener())
                        .start();
                AgentClient alice = AgentClient.builder().apiKey(ALICES_KEY).connect(hub.agentUrl("listener"));
                AgentClient bob = AgentClient.builder().apiKey(BOBS_KEY).connect(hub.agentUrl("listener"))) {
            Task first = (Task) alice.send(user("my secret").in("shared", null));
            Task second = (Task) bob.send(user("tell me").in("shared", null));
            Task third = (Task) alice.send(user("again").in("shared", null));

            assertThat(first.text()).isEqualTo("heard: my secret");
            assertThat(second.text()).isEqualTo("heard: tell me");
            assertThat(third.text()).isEqualTo("heard: my secret, again");
        }
    }

    @Test
    void tokensArriveWhileTheModelGoesOn() throws IOException {
        var arrived = new Semaphore(0);
        Agent agent = AssistantAgent.agent(Models.streaming((messages, handler) -> {
            for (String token : List.of("to ", "be ", "continued")) {
                handler.onPartialResponse(token);
                arrived.acquireUninterruptibly();
            }
            handler.onCompleteResponse(Models.response(AiMessage.from("to be continued")));
        }));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("assistant"));
                TaskStream events = client.stream("go")) {
            var pieces = new ArrayList<String>();
            Task task = null;
            while (events.hasNext()) {
                TaskEvent event = events.next();
                task = event.applyTo(task);
                if (event instanceof TaskArtifactUpdateEvent piece) {
                    pieces.add(((Part.Text) piece.artifact().parts().getFirst()).text());
                    arrived.release();
                }
            }

            assertThat(pieces).containsExactly("to ", "be ", "continued");
            assertThat(task).isNotNull();
            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(task.artifacts()).hasSize(1);
        }
    }

    @Test
    void anAnswerWithoutTokensIsAnArtifact() throws IOException {
        Agent agent = AssistantAgent.agent(Models.streaming(
                (messages, handler) -> handler.onCompleteResponse(Models.response(AiMessage.from("at once")))));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("assistant"))) {
            assertThat(((Task) client.send("go")).text()).isEqualTo("at once");
        }
    }

    @Test
    void anErrorOfTheModelFailsTheTaskWithoutItsDetails() throws IOException {
        Agent streaming = AssistantAgent.agent(Models.streaming((messages, handler) -> {
            handler.onPartialResponse("I think");
            handler.onError(new IllegalStateException("key sk-123 is not valid"));
        }));
        Agent answering = listener(Models.answering(messages -> {
            throw new IllegalStateException("key sk-123 is not valid");
        }));
        try (Hub hub = hub(streaming, answering)) {
            for (String name : List.of("assistant", "listener")) {
                try (AgentClient client = AgentClient.connect(hub.agentUrl(name))) {
                    Task task = (Task) client.send("go");

                    assertThat(task.state()).isEqualTo(TaskState.FAILED);
                    assertThat(task.toString()).doesNotContain("sk-123");
                }
            }
        }
    }

    @Test
    void aCanceledTaskStopsTheStreamOfTheModel() throws Exception {
        var canceled = new CountDownLatch(1);
        var stopped = new CountDownLatch(1);
        var handle = new StreamingHandle() {
            @Override
            public void cancel() {
                stopped.countDown();
            }

            @Override
            public boolean isCancelled() {
                return stopped.getCount() == 0;
            }
        };
        Agent agent = AssistantAgent.agent(Models.streaming((messages, handler) -> {
            var context = new PartialResponseContext(handle);
            handler.onPartialResponse(new PartialResponse("first"), context);
            awaitStubbornly(canceled);
            handler.onPartialResponse(new PartialResponse("late"), context);
        }));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("assistant"));
                TaskStream events = client.stream("go")) {
            Task begun = (Task) events.next();
            while (!(events.next() instanceof TaskArtifactUpdateEvent)) {}

            Task after = client.cancel(begun.id());
            canceled.countDown();

            assertThat(after.state()).isEqualTo(TaskState.CANCELED);
            assertThat(stopped.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(client.task(begun.id()).text()).isEqualTo("first");
        }
    }

    @Test
    void aCanceledTaskInterruptsTheService() throws Exception {
        var called = new CountDownLatch(1);
        var interrupted = new CountDownLatch(1);
        Agent agent = listener(Models.answering(messages -> {
            called.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stop) {
                interrupted.countDown();
            }
            return AiMessage.from("too late");
        }));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("listener"));
                TaskStream events = client.stream("go")) {
            Task begun = (Task) events.next();
            assertThat(called.await(30, TimeUnit.SECONDS)).isTrue();

            Task after = client.cancel(begun.id());

            assertThat(after.state()).isEqualTo(TaskState.CANCELED);
            assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(client.task(begun.id()).text()).isEmpty();
        }
    }

    @Test
    void theTimeLimitOfTheAgentEndsAStreamThatStalls() throws IOException {
        Agent agent = Agent.named("stalled", "Stalls")
                .timeLimit(Duration.ofMillis(200))
                .handle(ChatAgent.streaming((memoryId, text) -> AiServices.create(
                                TokenService.class, Models.streaming((messages, handler) -> {}))
                        .chat(text)));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("stalled"))) {
            assertThat(((Task) client.send("go")).state()).isEqualTo(TaskState.FAILED);
        }
    }

    /** A parameter that is the user message by itself would be a template. */
    @Test
    void bracesOfACallerAreText() throws IOException {
        try (Hub hub = hub(listener());
                AgentClient client = AgentClient.connect(hub.agentUrl("listener"))) {
            assertThat(((Task) client.send("how is {{name}} written?")).text()).endsWith("how is {{name}} written?");
        }
    }

    @Test
    void aMessageWithoutTextIsRejected() throws IOException {
        try (Hub hub = hub(listener());
                AgentClient client = AgentClient.connect(hub.agentUrl("listener"))) {
            Task task = (Task) client.send(Message.user(Part.data(Map.of("a", 1))));

            assertThat(task.state()).isEqualTo(TaskState.REJECTED);
            assertThat(requireNonNull(task.status().message()).text()).contains("no text");
        }
    }

    /** A chat memory is not safe for several threads. */
    @Test
    void tasksOfOneContextRunOneAfterTheOther() throws Exception {
        var calls = new AtomicInteger();
        var begun = new CountDownLatch(1);
        var waiting = new CountDownLatch(1);
        var overlapped = new CountDownLatch(1);
        Agent agent = Agent.named("counting", "Counts").handle(ChatAgent.answering((memoryId, text) -> {
            if (calls.incrementAndGet() == 1) {
                begun.countDown();
                waiting.await();
            } else {
                overlapped.countDown();
            }
            return text;
        }));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("counting"));
                TaskStream first = client.stream(user("first").in("one", null))) {
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
            try (TaskStream second = client.stream(user("second").in("one", null))) {
                assertThat(second.next()).isInstanceOf(Task.class);

                assertThat(overlapped.await(300, TimeUnit.MILLISECONDS)).isFalse();
                waiting.countDown();

                first.forEachRemaining(event -> {});
                second.forEachRemaining(event -> {});
            }
        }
        assertThat(calls.get()).isEqualTo(2);
    }

    interface TokenService {
        TokenStream chat(String text);
    }

    private static Agent listener() {
        return listener(Models.answering(messages -> AiMessage.from("heard: " + Models.heard(messages))));
    }

    private static Agent listener(ChatModel model) {
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model)
                .chatMemoryProvider(id ->
                        MessageWindowChatMemory.builder().id(id).maxMessages(20).build())
                .build();
        return Agent.named("listener", "Repeats the messages of its context")
                .handle(ChatAgent.answering(assistant::chat));
    }

    private static Hub hub(Agent... agents) throws IOException {
        return Hub.builder().inMemory().port(0).agents(agents).start();
    }

    private static Message user(String text) {
        return Message.user(Part.text(text));
    }

    private static void awaitStubbornly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }
}
