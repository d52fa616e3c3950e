package dev.parley.spring.ai;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

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
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.model.ChatModel;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** Chat clients of Spring AI as agents of a hub, called over HTTP. */
@Timeout(60)
final class ChatAgentTest {
    private static final String ALICES_KEY = "alices-key-of-32-characters-00001";
    private static final String BOBS_KEY = "bobs-key-of-32-characters-0000002";

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
        Agent assistant = AssistantAgent.agent(
                Models.answering(messages -> new AssistantMessage("heard: " + Models.heard(messages))));
        try (Hub hub = hub(listener(), assistant)) {
            for (String name : List.of("listener", "assistant")) {
                try (AgentClient agent = AgentClient.connect(hub.agentUrl(name))) {
                    Task first = (Task) agent.send("one");
                    Task second = (Task) agent.send(user("two").in(first.contextId(), null));
                    Task elsewhere = (Task) agent.send("three");

                    assertThat(second.text()).isEqualTo("heard: one, two");
                    assertThat(elsewhere.text()).isEqualTo("heard: three");
                }
            }
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
        var arrived = new Semaphore(1);
        Agent agent = AssistantAgent.agent(Models.streaming(Flux.just("to ", "be ", "continued")
                .doOnNext(token -> arrived.acquireUninterruptibly())
                .subscribeOn(Schedulers.boundedElastic())));
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
    void anAnswerWithoutTextHasNoArtifact() throws IOException {
        try (Hub hub = hub(AssistantAgent.agent(Models.streaming(Flux.just(""))));
                AgentClient client = AgentClient.connect(hub.agentUrl("assistant"))) {
            Task task = (Task) client.send("go");

            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(task.artifacts()).isEmpty();
        }
    }

    @Test
    void anErrorOfTheModelFailsTheTaskWithoutItsDetails() throws IOException {
        var invalid = new IllegalStateException("key sk-123 is not valid");
        Agent streaming =
                AssistantAgent.agent(Models.streaming(Flux.just("I think").concatWith(Flux.error(invalid))));
        Agent answering = listener(Models.answering(messages -> {
            throw invalid;
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
    void aCanceledTaskStopsTheStreamOfTheModelBeforeItsNextToken() throws Exception {
        var stopped = new CountDownLatch(1);
        Agent agent = AssistantAgent.agent(
                Models.streaming(Flux.just("first").concatWith(Flux.never()).doOnCancel(stopped::countDown)));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("assistant"));
                TaskStream events = client.stream("go")) {
            Task begun = (Task) events.next();
            while (!(events.next() instanceof TaskArtifactUpdateEvent)) {}

            Task after = client.cancel(begun.id());

            assertThat(after.state()).isEqualTo(TaskState.CANCELED);
            assertThat(stopped.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(client.task(begun.id()).text()).isEqualTo("first");
        }
    }

    @Test
    void aCanceledTaskInterruptsTheCallOfTheModel() throws Exception {
        var called = new CountDownLatch(1);
        var interrupted = new CountDownLatch(1);
        Agent agent = listener(Models.answering(messages -> {
            called.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stop) {
                interrupted.countDown();
            }
            return new AssistantMessage("too late");
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
    void theTimeLimitOfTheAgentEndsAStreamThatStalls() throws Exception {
        var stopped = new CountDownLatch(1);
        ChatClient stalling =
                ChatClient.create(Models.streaming(Flux.<String>never().doOnCancel(stopped::countDown)));
        Agent agent = Agent.named("stalled", "Stalls")
                .timeLimit(Duration.ofMillis(200))
                .handle(ChatAgent.streaming(stalling));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("stalled"))) {
            assertThat(((Task) client.send("go")).state()).isEqualTo(TaskState.FAILED);
            assertThat(stopped.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void bracesOfACallerAreText() throws IOException {
        try (Hub hub = hub(listener());
                AgentClient client = AgentClient.connect(hub.agentUrl("listener"))) {
            assertThat(((Task) client.send("how is {name} written?")).text()).endsWith("how is {name} written?");
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

    @Test
    void anApplicationMakesThePromptOfARequest() throws IOException {
        ChatClient client = Models.remembering(Models.answering(messages -> new AssistantMessage(
                ((SystemMessage) messages.getFirst()).getText() + " | " + Models.heard(messages))));
        ChatAgent.Prompts prompts = request ->
                client.prompt().system("context " + request.contextId()).user(request.text());
        Agent streaming = Agent.named("streaming", "Streams").handle(ChatAgent.streaming(prompts));
        Agent answering = Agent.named("answering", "Answers").handle(ChatAgent.answering(prompts));
        try (Hub hub = hub(streaming, answering)) {
            for (String name : List.of("streaming", "answering")) {
                try (AgentClient agent = AgentClient.connect(hub.agentUrl(name))) {
                    Task first = (Task) agent.send(user("one").in(name, null));
                    Task second = (Task) agent.send(user("two").in(name, null));

                    assertThat(first.text()).isEqualTo("context " + name + " | one");
                    assertThat(second.text()).isEqualTo("context " + name + " | one, two");
                }
            }
        }
    }

    /** A chat memory adds messages in two steps. */
    @Test
    void tasksOfOneContextRunOneAfterTheOther() throws Exception {
        var calls = new AtomicInteger();
        var begun = new CountDownLatch(1);
        var waiting = new Semaphore(0);
        var overlapped = new CountDownLatch(1);
        Agent agent = listener(Models.answering(messages -> {
            if (calls.incrementAndGet() == 1) {
                begun.countDown();
                waiting.acquireUninterruptibly();
            } else {
                overlapped.countDown();
            }
            return new AssistantMessage("counted");
        }));
        try (Hub hub = hub(agent);
                AgentClient client = AgentClient.connect(hub.agentUrl("listener"));
                TaskStream first = client.stream(user("first").in("one", null))) {
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
            try (TaskStream second = client.stream(user("second").in("one", null))) {
                assertThat(second.next()).isInstanceOf(Task.class);

                assertThat(overlapped.await(300, TimeUnit.MILLISECONDS)).isFalse();
                waiting.release();

                first.forEachRemaining(event -> {});
                second.forEachRemaining(event -> {});
            }
        }
        assertThat(calls.get()).isEqualTo(2);
    }

    private static Agent listener() {
        return listener(Models.answering(messages -> new AssistantMessage("heard: " + Models.heard(messages))));
    }

    private static Agent listener(ChatModel model) {
        return Agent.named("listener", "Repeats the messages of its context")
                .handle(ChatAgent.answering(Models.remembering(model)));
    }

    private static Hub hub(Agent... agents) throws IOException {
        return Hub.builder().inMemory().port(0).agents(agents).start();
    }

    private static Message user(String text) {
        return Message.user(Part.text(text));
    }
}
