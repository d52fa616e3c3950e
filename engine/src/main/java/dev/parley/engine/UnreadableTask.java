package dev.parley.engine;

import dev.parley.engine.spi.TaskLog.TaskKey;
import java.time.Instant;

/**
 * A task that was interrupted and cannot be taken up, because what the log holds of it cannot be read. It is tried again now
 * and then; erasing it removes it.
 *
 * @param since when that was first seen
 * @param reason for operators
 */
public record UnreadableTask(String group, String agent, String taskId, Instant since, String reason) {
    static UnreadableTask of(TaskKey key, Instant since, RuntimeException reason) {
        return new UnreadableTask(
                key.scope().group(), key.agent(), key.taskId(), since, String.valueOf(reason.getMessage()));
    }
}
