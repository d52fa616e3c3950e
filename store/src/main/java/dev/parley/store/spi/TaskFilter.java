package dev.parley.store.spi;

import dev.parley.protocol.TaskState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A page of the tasks of a data directory, newest first by the times at which they began. Null means any.
 *
 * @param statusSince only tasks with a status of this time or later
 * @param before id of the last task of the page before
 * @param limit tasks at most
 */
public record TaskFilter(
        @Nullable String group,
        @Nullable String agent,
        @Nullable String contextId,
        @Nullable TaskState state,
        @Nullable Instant statusSince,
        @Nullable String before,
        int limit) {}
