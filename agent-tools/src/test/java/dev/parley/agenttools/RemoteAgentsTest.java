package dev.parley.agenttools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.spi.ClientException;
import dev.parley.engine.Agent;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.LocalAgent;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tools for agents that number their tasks, stall or answer at length. */
@Timeout(60)
final class RemoteAgentsTest {
    private static final String NEW_TASK = "{\"message\": \"go\"}";
    private static final String ANSWER = "{\"message\": \"3\", \"taskId\": \"1\"}";

    @Test
    void agentsThatNumberTheirTasksDoNotShareThem() {
        List<ModelTool> tools = RemoteAgents.of(List.of(numbering("trips"), numbering("hotels")))
                .tools();
        ModelTool trips = tools.getFirst();
        ModelTool hotels = tools.getLast();

        assertThat(trips.call(NEW_TASK, "alice").text()).contains("taskId \"1\"");
        assertThat(hotels.call(NEW_TASK, "bob").text()).contains("taskId \"1\"");

        assertThat(hotels.call(ANSWER, "alice").text()).contains("not a task of this conversation");
        assertThat(hotels.call(ANSWER, "bob").text()).isEqualTo("3 for 1");
        assertThat(trips.call(ANSWER, "bob").text()).contains("not a task of this conversation");
        assertThat(trips.call(ANSWER, "alice").text()).isEqualTo("3 for 1");
    }

    @Test
    void aTaskIsOfTheConversationThatHasGotItLast() {
        ModelTool trips = RemoteAgents.of(List.of(numbering("trips"))).tools().getFirst();

        assertThat(trips.call(NEW_TASK, "before a restart of the agent").text()).contains("taskId \"1\"");
        assertThat(trips.call(NEW_TASK, "after it").text()).contains("taskId \"1\"");

        assertThat(trips.call(ANSWER, "before a restart of the agent").text())
                .contains("not a task of this conversation");
        assertThat(trips.call(ANSWER, "after it").text()).isEqualTo("3 for 1");
    }

    @Test
    void aTaskWithALongIdCannotBeContinued() {
        FakeAgent agent = agent("trips", "x".repeat(257));

        ToolResult result = RemoteAgents.of(List.of(agent)).tools().getFirst().call(NEW_TASK, "c");

        assertThat(result.isError()).isTrue();
        assertThat(result.text())
                .isEqualTo("The agent asks: For how many days?\n"
                        + "The task cannot be continued: its id has 257 characters (expected: at most 256)");
    }

    @Test
    void anIdThatNoAgentCanHaveToldIsRefused() {
        FakeAgent agent = numbering("trips");
        String arguments = "{\"message\": \"3\", \"taskId\": \"" + "x".repeat(100_000) + "\"}";

        ToolResult result = RemoteAgents.of(List.of(agent)).tools().getFirst().call(arguments, "c");

        assertThat(result.text()).contains("not a task of this conversation").hasSizeLessThan(500);
        assertThat(agent.calls).isEmpty();
    }

    @Test
    void allRequestsOfACallHaveOneTimeLimit() {
        FakeAgent agent = numbering("trips");
        ModelTool trips = RemoteAgents.of(List.of(agent)).tools().getFirst();
        var unused = trips.call(NEW_TASK, "c");
        agent.calls.clear();

        assertThat(trips.call(ANSWER, "c").text()).isEqualTo("3 for 1");

        assertThat(agent.calls).extracting(call -> call.operation().name()).containsExactly("GetTask", "SendMessage");
        assertThat(agent.calls).extracting(FakeAgent.Call::deadline).doesNotContainNull();
        assertThat(Set.copyOf(agent.calls.stream().map(FakeAgent.Call::deadline).toList()))
                .hasSize(1);
    }

    /** The stream opens after the call has ended. The second interruption comes shortly before the end of the time for it. */
    @Test
    void anInterruptedCallEndsOnceAndItsTaskIsCanceled() throws Exception {
        var asked = new CountDownLatch(1);
        var opening = new CountDownLatch(1);
        var closed = new CountDownLatch(1);
        FakeAgent slow = FakeAgent.streaming("slow", (agent, message) -> {
            asked.countDown();
            opening.await();
            return Feed.of(List.of(new LoggedEvent(1, agent.task("1", TaskState.WORKING, ""))))
                    .onClose(closed::countDown);
        });
        ModelTool tool = RemoteAgents.of(List.of(slow)).tools().getFirst();
        var problem = new AtomicReference<@Nullable Exception>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                var unused = tool.call(NEW_TASK, "c");
            } catch (ClientException interrupted) {
                problem.set(interrupted);
            }
        });
        assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();

        thread.interrupt();
        assertThat(thread.join(Duration.ofSeconds(4))).isFalse();
        thread.interrupt();
        assertThat(thread.join(Duration.ofMillis(4_500))).isTrue();
        opening.countDown();

        assertThat(problem.get()).isInstanceOf(ClientException.class);
        assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
        Eventually.holds(
                "the task is canceled",
                () -> slow.calls.stream().anyMatch(call -> call.operation() instanceof Operation.CancelTask));
    }

    @Test
    void theEndOfAnAgentsTaskInterruptsTheLookupOfAnotherTask() throws Exception {
        var asked = new CountDownLatch(1);
        var ended = new CompletableFuture<Exception>();
        FakeAgent stalled = numbering("trips").reading(id -> {
            asked.countDown();
            new CountDownLatch(1).await();
        });
        RemoteAgents agents = RemoteAgents.of(List.of(stalled));
        Agent desk = Agent.named("desk", "Asks").handle(ConversationHandler.answering(request -> {
            ModelTool tool = agents.tools().getFirst();
            Thread.ofVirtual()
                    .start(
                            () -> { // that of a model
                                try {
                                    var unused = tool.call(ANSWER, "c");
                                } catch (RuntimeException stopped) {
                                    ended.complete(stopped);
                                }
                            });
            asked.await();
            return "answered";
        }));

        try (LocalAgent agent = LocalAgent.of(desk)) {
            assertThat(agent.send("go").state()).isEqualTo(TaskState.COMPLETED);
        }

        assertThat(ended.get(30, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
    }

    private static FakeAgent numbering(String name) {
        return agent(name, "1");
    }

    /** An agent that asks a question in a task with this id, and repeats the answer. */
    private static FakeAgent agent(String name, String taskId) {
        return FakeAgent.answering(
                name,
                (agent, message) -> message.taskId() == null
                        ? agent.task(taskId, TaskState.INPUT_REQUIRED, "For how many days?")
                        : Message.agent(Part.text(message.text() + " for " + message.taskId())));
    }
}
