package dev.parley.dialect.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskWatch;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Agents of the JavaScript SDK begin the answer to a question with the task as it was asked. */
final class UntilFinalTest {
    private static final Message QUESTION = Message.agent(Part.text("What?"));
    private static final Message BLUE = Message.user(Part.text("blue")).in("context", "task");
    private static final TaskWatch BEGIN = SendStreamingMessage.of(Message.user(Part.text("hello")));
    private static final TaskWatch ANSWER = SendStreamingMessage.of(BLUE);

    /** As agents of the JavaScript SDK show it. */
    private static final TaskEvent ASKED = task(TaskState.INPUT_REQUIRED, QUESTION, QUESTION, BLUE);

    /** As the agents of a hub that ask again at once. */
    private static final TaskEvent ASKED_AGAIN =
            task(TaskState.INPUT_REQUIRED, Message.agent(Part.text("Really?")), QUESTION, BLUE);

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("the answer to a question is shown to its end although it begins with the question")
    void repeatedQuestion(boolean endsWithStatus) throws InterruptedException {
        List<TaskEvent> answer = List.of(ASKED, status(TaskState.WORKING), status(TaskState.COMPLETED));

        assertThat(shown(ANSWER, endsWithStatus, answer))
                .containsExactly(
                        task(TaskState.WORKING, null, QUESTION, BLUE),
                        status(TaskState.WORKING),
                        status(TaskState.COMPLETED));
    }

    @Test
    void aQuestionWithinTheAnswerEndsTheStream() throws InterruptedException {
        List<TaskEvent> again = List.of(ASKED, status(TaskState.INPUT_REQUIRED));

        assertThat(shown(ANSWER, false, again, status(TaskState.WORKING)))
                .containsExactly(task(TaskState.WORKING, null, QUESTION, BLUE), status(TaskState.INPUT_REQUIRED));
        assertThat(shown(ANSWER, false, List.of(ASKED, ASKED_AGAIN), status(TaskState.WORKING)))
                .containsExactly(task(TaskState.WORKING, null, QUESTION, BLUE), ASKED_AGAIN);
    }

    @Test
    void anAnswerThatBeginsWithAnotherQuestionEndsWithIt() throws InterruptedException {
        TaskEvent unknown = task(TaskState.INPUT_REQUIRED, QUESTION);
        TaskEvent silent = task(TaskState.INPUT_REQUIRED, null, QUESTION, BLUE);

        for (TaskEvent other : List.of(ASKED_AGAIN, unknown, silent)) {
            assertThat(shown(ANSWER, false, List.of(other), status(TaskState.WORKING)))
                    .containsExactly(other);
            assertThat(shown(ANSWER, true, List.of(other), status(TaskState.WORKING)))
                    .containsExactly(
                            other, new TaskStatusUpdateEvent("task", "context", ((Task) other).status(), Map.of()));
        }
    }

    @Test
    void aTaskThatAsksAtOnceEndsTheStream() throws InterruptedException {
        assertThat(shown(BEGIN, false, List.of(ASKED), status(TaskState.WORKING)))
                .containsExactly(ASKED);
        assertThat(shown(SubscribeToTask.of("task"), false, List.of(ASKED), status(TaskState.WORKING)))
                .containsExactly(ASKED);
    }

    @ParameterizedTest
    @EnumSource(
            value = TaskState.class,
            names = {"COMPLETED", "FAILED", "CANCELED", "REJECTED"})
    void aTaskThatHasEndedEndsTheAnswer(TaskState state) throws InterruptedException {
        TaskEvent task = task(state, QUESTION, QUESTION, BLUE);

        assertThat(shown(ANSWER, false, List.of(task), status(TaskState.WORKING)))
                .containsExactly(task);
    }

    private static List<TaskEvent> shown(
            TaskWatch watch, boolean endsWithStatus, List<TaskEvent> events, TaskEvent... more)
            throws InterruptedException {
        var all = new ArrayList<LoggedEvent>();
        events.forEach(event -> all.add(new LoggedEvent(all.size() + 1, event)));
        List.of(more).forEach(event -> all.add(new LoggedEvent(all.size() + 1, event)));
        var shown = new ArrayList<TaskEvent>();
        try (var stream = new UntilFinal(
                Feed.of(all),
                watch,
                state -> state.isTerminal() || state == TaskState.INPUT_REQUIRED,
                endsWithStatus)) {
            for (@Nullable List<LoggedEvent> next = stream.next(Duration.ZERO);
                    next != null;
                    next = stream.next(Duration.ZERO)) {
                next.forEach(event -> shown.add(event.event()));
            }
        }
        return shown;
    }

    private static TaskEvent task(TaskState state, @Nullable Message said, Message... history) {
        var status = new TaskStatus(state, said, Instant.EPOCH);
        return new Task("task", "context", status, List.of(), List.of(history), Map.of());
    }

    private static TaskEvent status(TaskState state) {
        return new TaskStatusUpdateEvent("task", "context", new TaskStatus(state, null, Instant.EPOCH), Map.of());
    }
}
