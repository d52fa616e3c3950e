package dev.parley.engine.scheduling;

import static java.util.Objects.requireNonNullElse;

import dev.parley.engine.spi.PushStore.Queue.Single;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The next event of a webhook of a channel, in the order in which the events of the channel are sent. */
public record NextEvent(Instant at, Single key, long sequence) implements Comparable<NextEvent> {
    private static final int BATCH = 64;

    private static final Comparator<NextEvent> ORDER = Comparator.comparing(NextEvent::at)
            .thenComparing(next -> next.key().task().taskId())
            .thenComparingLong(NextEvent::sequence)
            .thenComparing(next -> next.key().configId());

    @Override
    public int compareTo(NextEvent other) {
        return ORDER.compare(this, other);
    }

    /**
     * Reads the event after {@code after}; null if there is none.
     *
     * @param before time of the event before it, which one without a time has too; null if it has to be read
     */
    public static @Nullable NextEvent of(TaskLog log, Single key, long after, @Nullable Instant before) {
        List<LoggedEvent> events = log.read(key.task(), after, 1);
        if (events.isEmpty()) {
            return null;
        }
        Instant at = time(events.getFirst());
        if (at == null) {
            at = before == null ? timeOf(log, key.task(), after) : before;
        }
        return new NextEvent(at, key, after + 1);
    }

    /** The time of an event, or of the last one before it that has a time. */
    private static Instant timeOf(TaskLog log, TaskKey task, long sequence) {
        Instant last = Instant.EPOCH;
        long from = 0;
        while (from < sequence) {
            List<LoggedEvent> events = log.read(task, from, (int) Math.min(BATCH, sequence - from));
            if (events.isEmpty()) {
                break;
            }
            for (LoggedEvent event : events) {
                last = requireNonNullElse(time(event), last);
            }
            from = events.getLast().sequence();
        }
        return last;
    }

    private static @Nullable Instant time(LoggedEvent event) {
        return switch (event.event()) {
            case Task created -> created.status().timestamp();
            case TaskStatusUpdateEvent moved -> moved.status().timestamp();
            case Message received -> null;
            case TaskArtifactUpdateEvent produced -> null;
        };
    }
}
