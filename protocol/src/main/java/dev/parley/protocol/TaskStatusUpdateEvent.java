package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.Lists;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The task moved, or its agent has something to say about it.
 *
 * <p>Source: A2A specification 1.0, section 4.2.1.
 */
public record TaskStatusUpdateEvent(
        String taskId, String contextId, TaskStatus status, Map<String, @Nullable Object> metadata)
        implements TaskEvent {
    public TaskStatusUpdateEvent {
        requireNonNull(taskId, "taskId");
        requireNonNull(contextId, "contextId");
        requireNonNull(status, "status");
        metadata = Lists.copy(metadata);
    }
}
