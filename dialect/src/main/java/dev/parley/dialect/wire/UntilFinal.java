package dev.parley.dialect.wire;

import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
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
    private boolean ended;

    /** @param endsWithStatus whether a status follows a final task, which cannot say itself that it is the last event */
    public UntilFinal(Feed<LoggedEvent> events, Predicate<TaskState> isFinal, boolean endsWithStatus) {
        this.events = events;
        this.isFinal = isFinal;
        this.endsWithStatus = endsWithStatus;
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
            if (event.event() instanceof Task task && isFinal.test(task.state())) {
                if (endsWithStatus) {
                    var update = new TaskStatusUpdateEvent(task.id(), task.contextId(), task.status(), Map.of());
                    shown.add(new LoggedEvent(event.sequence(), update));
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

    @Override
    public void close() {
        events.close();
    }
}
