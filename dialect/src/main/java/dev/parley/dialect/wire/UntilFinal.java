package dev.parley.dialect.wire;

import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
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
    /** True before the first event of the answer to a question. */
    private boolean mayRepeatQuestion;

    /** Task that begins such an answer and waits: as it was asked, with JavaScript agents, or asked again; null for none. */
    private @Nullable LoggedEvent held;

    private boolean ended;

    /**
     * @param watch the operation that is answered
     * @param endsWithStatus whether a status follows a final task, which cannot say itself that it is the last event
     */
    public UntilFinal(Feed<LoggedEvent> events, TaskWatch watch, Predicate<TaskState> isFinal, boolean endsWithStatus) {
        this.events = events;
        this.isFinal = isFinal;
        this.endsWithStatus = endsWithStatus;
        this.mayRepeatQuestion =
                watch instanceof SendStreamingMessage send && send.message().taskId() != null;
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        var shown = new ArrayList<LoggedEvent>();
        while (shown.isEmpty()) {
            List<LoggedEvent> next = ended ? null : events.next(patience);
            if (next == null) {
                LoggedEvent last = held;
                if (last == null) {
                    return null;
                }
                held = null;
                end(last, (Task) last.event(), shown);
            } else if (next.isEmpty()) {
                return next;
            } else {
                show(next, shown);
            }
        }
        return shown;
    }

    private void show(List<LoggedEvent> next, List<LoggedEvent> shown) {
        for (LoggedEvent event : next) {
            boolean first = mayRepeatQuestion;
            mayRepeatQuestion = false;
            if (first
                    && event.event() instanceof Task task
                    && isFinal.test(task.state())
                    && !task.state().isTerminal()) {
                held = event;
                continue;
            }
            if (held != null && !(event.event() instanceof Task)) {
                shown.add(goingOn(held));
            }
            held = null;
            if (event.event() instanceof Task task && isFinal.test(task.state())) {
                end(event, task, shown);
            } else {
                shown.add(event);
                ended = event.event() instanceof TaskStatusUpdateEvent update
                        && isFinal.test(update.status().state());
            }
            if (ended) {
                close();
                return;
            }
        }
    }

    private void end(LoggedEvent event, Task task, List<LoggedEvent> shown) {
        shown.add(event);
        if (endsWithStatus) {
            shown.add(status(event, task));
        }
        ended = true;
    }

    /** The task without its question, which has been answered: clients would take it for another one, and stop reading. */
    private static LoggedEvent goingOn(LoggedEvent event) {
        Task task = (Task) event.event();
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
