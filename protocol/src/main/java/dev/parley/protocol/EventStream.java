package dev.parley.protocol;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The events of a task as one reader sees them, in order, without gaps.
 *
 * <p>The reader pulls, so a slow reader delays no other. For one thread at a time, except {@link
 * #close()}, which any thread may call and which wakes a waiting {@link #next}.
 */
public interface EventStream extends Feed<LoggedEvent> {
    /**
     * Returns what has happened since the last call, waiting for it if need be.
     *
     * @return at least one event; an empty list if nothing happened within {@code patience}; null once the stream has
     *     ended, because the task did or because it was closed
     * @throws A2AException if the events cannot be read; the stream has ended
     * @throws InterruptedException if the waiting thread was interrupted; the stream can still be read
     */
    @Override
    @Nullable
    List<LoggedEvent> next(Duration patience) throws InterruptedException;

    /** Ends the stream for this reader. The task goes on. Idempotent. */
    @Override
    void close();
}
