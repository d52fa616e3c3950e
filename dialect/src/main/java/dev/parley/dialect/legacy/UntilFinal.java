package dev.parley.dialect.legacy;

import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A stream that ends with the first state that its version marks as final.
 *
 * <p>Source: A2A specification 0.3.0, section 7.2.
 */
final class UntilFinal implements Feed<LoggedEvent> {
    private final Feed<LoggedEvent> events;
    private final Predicate<TaskState> isFinal;
    private boolean ended;

    UntilFinal(Feed<LoggedEvent> events, Predicate<TaskState> isFinal) {
        this.events = events;
        this.isFinal = isFinal;
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
            if (isLast(next.get(i).event())) {
                ended = true;
                close();
                return next.subList(0, i + 1);
            }
        }
        return next;
    }

    private boolean isLast(TaskEvent event) {
        return switch (event) {
            case TaskStatusUpdateEvent update -> isFinal.test(update.status().state());
            case Task snapshot -> isFinal.test(snapshot.state());
            default -> false;
        };
    }

    @Override
    public void close() {
        events.close();
    }
}
