package dev.parley.engine.spi;

import dev.parley.engine.spi.TaskLog.TaskKey;
import java.time.Instant;

/**
 * An interrupted task that cannot be resumed, because its events in the log cannot be read. The engine retries it now and
 * then; an erasure removes it.
 *
 * @param since time of the first attempt
 * @param reason for operators
 */
public record UnreadableTask(String group, String agent, String taskId, Instant since, String reason) {
    public static UnreadableTask of(TaskKey key, Instant since, Throwable reason) {
        return new UnreadableTask(
                key.scope().group(), key.agent(), key.taskId(), since, String.valueOf(reason.getMessage()));
    }
}
