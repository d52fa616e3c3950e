package dev.parley.dialect;

import dev.parley.protocol.EventStream;
import dev.parley.protocol.LoggedEvent;
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
final class UntilInputRequired implements EventStream {
    private final EventStream events;
    private boolean ended;

    UntilInputRequired(EventStream events) {
        this.events = events;
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
            if (next.get(i).event() instanceof TaskStatusUpdateEvent update
                    && update.status().state() == TaskState.INPUT_REQUIRED) {
                ended = true;
                close();
                return next.subList(0, i + 1);
            }
        }
        return next;
    }

    @Override
    public void close() {
        events.close();
    }
}
