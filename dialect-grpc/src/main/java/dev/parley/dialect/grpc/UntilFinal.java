package dev.parley.dialect.grpc;

import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A stream as clients of A2A 0.3 want it: its last event is a status that says so, and comes when the task has ended or
 * begins to wait for its caller.
 *
 * <p>Source: A2A specification 0.3.0, section 7.2.
 */
final class UntilFinal implements Feed<LoggedEvent> {
    private final Feed<LoggedEvent> events;
    private boolean ended;

    UntilFinal(Feed<LoggedEvent> events) {
        this.events = events;
    }

    /** True for a status that is the last of its stream. */
    static boolean isFinal(TaskState state) {
        return state.isTerminal() || state == TaskState.INPUT_REQUIRED;
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        List<LoggedEvent> next = ended ? null : events.next(patience);
        if (next == null) {
            return null;
        }
        var shown = new ArrayList<LoggedEvent>(next.size());
        for (LoggedEvent event : next) {
            shown.add(event);
            if (event.event() instanceof TaskStatusUpdateEvent update
                    && isFinal(update.status().state())) {
                return last(shown);
            }
            // A snapshot cannot say that it is the last, and a client that waits for that would wait for ever.
            if (event.event() instanceof Task task && isFinal(task.state())) {
                var update = new TaskStatusUpdateEvent(task.id(), task.contextId(), task.status(), Map.of());
                shown.add(new LoggedEvent(event.sequence(), update));
                return last(shown);
            }
        }
        return shown;
    }

    private List<LoggedEvent> last(List<LoggedEvent> shown) {
        ended = true;
        close();
        return shown;
    }

    @Override
    public void close() {
        events.close();
    }
}
