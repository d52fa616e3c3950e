package dev.parley.protocol;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An event of a task, as the log keeps it and streams carry it. Immutable.
 *
 * <p>A log begins with the {@link Task} as created. A {@link Message} in a log is one that the task received; it changes
 * the history and is not shown to streams. In a stream a message is the whole answer.
 *
 * <p>Source: A2A specification 1.0, section 4.2.3 "StreamResponse".
 */
public sealed interface TaskEvent permits Task, Message, TaskStatusUpdateEvent, TaskArtifactUpdateEvent {

    /**
     * Returns {@code task} as it stands after this event. Pure: no clock, no store, no I/O.
     *
     * @param task the task so far, or null before its first event
     * @throws TaskEndedException if the task is in a terminal state; nothing has changed
     * @throws IllegalStateException if this cannot come first, or is a second beginning
     */
    default Task applyTo(@Nullable Task task) {
        if (task == null) {
            if (this instanceof Task created) {
                return created;
            }
            throw new IllegalStateException("first event: " + getClass().getSimpleName() + " (expected: Task)");
        }
        if (task.state().isTerminal()) {
            // Dropping a late event would show two readers two histories, so its emitter gets an exception.
            throw new TaskEndedException(task.id(), task.state());
        }
        return switch (this) {
            case Task again -> throw new IllegalStateException("task created twice: " + again.id());
            case Message received -> task.with(received);
            case TaskStatusUpdateEvent moved -> task.with(moved);
            case TaskArtifactUpdateEvent produced -> task.with(produced);
        };
    }

    /** True if streams and webhooks show this event once the task exists. */
    default boolean isPublic() {
        return !(this instanceof Message);
    }

    /** Returns the members of {@code base}, overridden by those of {@code more}. */
    static Map<String, @Nullable Object> merge(Map<String, @Nullable Object> base, Map<String, @Nullable Object> more) {
        if (more.isEmpty()) {
            return base;
        }
        var merged = new LinkedHashMap<String, @Nullable Object>(base);
        merged.putAll(more);
        return merged;
    }

    /** An event came after the end of its task; nothing has changed. */
    final class TaskEndedException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        private final String taskId;
        private final TaskState state;

        public TaskEndedException(String taskId, TaskState state) {
            super("task " + taskId + " has ended (" + state + ")");
            this.taskId = taskId;
            this.state = state;
        }

        public String taskId() {
            return taskId;
        }

        public TaskState state() {
            return state;
        }
    }
}
