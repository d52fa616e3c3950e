package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The state of a task, since when, and what the agent says about it.
 *
 * <p>Source: A2A specification 1.0, section 4.1.2 "TaskStatus".
 *
 * @param timestamp when the status was recorded; always set on tasks of this server
 */
public record TaskStatus(
        TaskState state,
        @Nullable Message message,
        @Nullable Instant timestamp) {
    public TaskStatus {
        requireNonNull(state, "state");
    }

    /** A status without a message. */
    public static TaskStatus of(TaskState state, Instant timestamp) {
        return new TaskStatus(state, null, timestamp);
    }
}
