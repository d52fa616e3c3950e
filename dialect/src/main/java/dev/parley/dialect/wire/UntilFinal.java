package dev.parley.dialect.wire;

import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Operation.TaskWatch;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A stream that ends with the first state that its version marks as final.
 *
 * <p>Source: A2A specification 0.3.0, section 7.2.
 */
public final class UntilFinal implements Feed<LoggedEvent> {
    private final Feed<LoggedEvent> events;
    private final Predicate<TaskState> isFinal;
    private final boolean endsWithStatus;
    /** Id of the message that answers a question; null after the first event, and if there was none. */
    private @Nullable String answer;

    private boolean ended;

    /**
     * @param watch the operation that is answered
     * @param endsWithStatus whether a status follows a final task, which cannot say itself that it is the last event
     */
    public UntilFinal(Feed<LoggedEvent> events, TaskWatch watch, Predicate<TaskState> isFinal, boolean endsWithStatus) {
        this.events = events;
        this.isFinal = isFinal;
        this.endsWithStatus = endsWithStatus;
        this.answer =
                watch instanceof SendStreamingMessage send && send.message().taskId() != null
                        ? send.message().messageId()
                        : null;
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        List<LoggedEvent> next = ended ? null : events.next(patience);
        if (next == null) {
            return null;
        }
        var shown = new ArrayList<LoggedEvent>(next.size());
        for (LoggedEvent event : next) {
            String answered = answer;
            answer = null;
            if (answered != null && event.event() instanceof Task task && repeatsQuestion(task, answered)) {
                shown.add(goingOn(event, task));
                continue;
            }
            shown.add(event);
            if (event.event() instanceof Task task && isFinal.test(task.state())) {
                if (endsWithStatus) {
                    shown.add(status(event, task));
                }
                ended = true;
            } else if (event.event() instanceof TaskStatusUpdateEvent update) {
                ended = isFinal.test(update.status().state());
            }
            if (ended) {
                close();
                break;
            }
        }
        return shown;
    }

    /** Whether a task waits by a question that the caller has answered since: agents of the JavaScript SDK begin with that. */
    private boolean repeatsQuestion(Task task, String answered) {
        Message question = task.status().message();
        if (question == null || task.state().isTerminal() || !isFinal.test(task.state())) {
            return false;
        }
        List<String> ids = task.history().stream().map(Message::messageId).toList();
        int asked = ids.indexOf(question.messageId());
        return asked >= 0 && asked < ids.lastIndexOf(answered);
    }

    /** The task without its question: clients would take it for another one, and stop reading. */
    private static LoggedEvent goingOn(LoggedEvent event, Task task) {
        var status = new TaskStatus(TaskState.WORKING, null, task.status().timestamp());
        return new LoggedEvent(
                event.sequence(),
                new Task(task.id(), task.contextId(), status, task.artifacts(), task.history(), task.metadata()));
    }

    private static LoggedEvent status(LoggedEvent event, Task task) {
        return new LoggedEvent(
                event.sequence(), new TaskStatusUpdateEvent(task.id(), task.contextId(), task.status(), Map.of()));
    }

    @Override
    public void close() {
        events.close();
    }
}
