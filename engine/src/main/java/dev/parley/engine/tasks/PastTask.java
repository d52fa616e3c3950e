package dev.parley.engine.tasks;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A task as it was, from event to event. Reads the log only when it is asked. Of one thread. */
public final class PastTask {
    private static final int BATCH = 64;

    private final TaskLog log;
    private final TaskKey key;
    private @Nullable Task task;
    private long sequence;

    public PastTask(TaskLog log, TaskKey key) {
        this.log = log;
        this.key = key;
    }

    /** Returns the task after an event, which is not before that of the call before. */
    public Task after(LoggedEvent event) {
        while (sequence < event.sequence()) {
            List<LoggedEvent> events = log.read(key, sequence, (int) Math.min(BATCH, event.sequence() - sequence));
            if (events.isEmpty()) {
                throw new IllegalStateException("task " + key.taskId() + " was removed meanwhile");
            }
            for (LoggedEvent one : events) {
                task = one.event().applyTo(task).at(one.sequence());
                sequence = one.sequence();
            }
        }
        return requireNonNull(task);
    }
}
