package dev.parley.engine;

import java.time.Instant;

/**
 * A task that was interrupted and cannot be taken up, because what the log holds of it cannot be read. It is tried again now
 * and then; erasing it removes it.
 *
 * @param since when that was first seen
 * @param reason for operators
 */
public record UnreadableTask(String group, String agent, String taskId, Instant since, String reason) {}
