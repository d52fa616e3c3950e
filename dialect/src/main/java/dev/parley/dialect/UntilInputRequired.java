package dev.parley.dialect;

import dev.parley.protocol.EventStream;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stream that ends when the task begins to wait for its caller, for peers that read the specification so.
 *
 * <p>Source: A2A specification 1.0, section 11.7, against section 3.1.2.
 */
public final class UntilInputRequired implements EventStream {
    private final EventStream events;
    private final boolean snapshotToo;
    private boolean ended;

    /** @param snapshotToo whether a task that is found waiting ends the stream as well */
    public UntilInputRequired(EventStream events, boolean snapshotToo) {
        this.events = events;
        this.snapshotToo = snapshotToo;
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        if (ended) {
            return null;
        }
        List<LoggedEvent> next = events.next(patience);
        if (next == null) {
            return null;
        }
        for (int i = 0; i < next.size(); i++) {
            if (waits(next.get(i).event())) {
                ended = true;
                close();
                return next.subList(0, i + 1);
            }
        }
        return next;
    }

    private boolean waits(TaskEvent event) {
        return switch (event) {
            case TaskStatusUpdateEvent update -> update.status().state() == TaskState.INPUT_REQUIRED;
            case Task snapshot -> snapshotToo && snapshot.state() == TaskState.INPUT_REQUIRED;
            default -> false;
        };
    }

    @Override
    public void close() {
        events.close();
    }
}
