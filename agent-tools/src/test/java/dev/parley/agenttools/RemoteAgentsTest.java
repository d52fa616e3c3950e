package dev.parley.agenttools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tools for agents that number their tasks, stall or answer at length. */
@Timeout(60)
final class RemoteAgentsTest {
    private static final String NEW_TASK = "{\"message\": \"go\"}";
    private static final String ANSWER = "{\"message\": \"3\", \"taskId\": \"1\"}";

    @Test
    void agentsThatNumberTheirTasksDoNotShareThem() {
        List<ModelTool> tools =
                RemoteAgents.of(List.of(numbering("trips"), numbering("hotels"))).tools();
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
        ModelTool trips =
                RemoteAgents.of(List.of(numbering("trips"))).tools().getFirst();

        assertThat(trips.call(NEW_TASK, "before a restart of the agent").text()).contains("taskId \"1\"");
        assertThat(trips.call(NEW_TASK, "after it").text()).contains("taskId \"1\"");

        assertThat(trips.call(ANSWER, "before a restart of the agent").text())
                .contains("not a task of this conversation");
        assertThat(trips.call(ANSWER, "after it").text()).isEqualTo("3 for 1");
    }

    @Test
    void aTaskWithALongIdCannotBeContinued() {
        FakeAgent agent = agent("trips", "x".repeat(257));

        ToolResult result =
                RemoteAgents.of(List.of(agent)).tools().getFirst().call(NEW_TASK, "c");

        assertThat(result.isError()).isTrue();
        assertThat(result.text())
                .isEqualTo("The agent asks: For how many days?\n"
                        + "The task cannot be continued: its id has 257 characters (expected: at most 256)");
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
