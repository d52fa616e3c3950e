package dev.parley.client;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * The events of a task, or the message that is the whole answer, as they come.
 *
 * <p>A connection that is cut is restored, and the stream goes on after the last event seen. From servers that do not
 * number their events, the next event then is the task as it stands. The stream ends with the task, or when the agent
 * closes it because it waits for its caller.
 *
 * <p>For one thread at a time, except {@link #close()}.
 */
public final class TaskStream implements Iterator<TaskEvent>, AutoCloseable {
    private static final Duration PATIENCE = Duration.ofDays(1);

    private final Feed<LoggedEvent> events;
    private final Deque<LoggedEvent> ready = new ArrayDeque<>();
    private long sequence;

    TaskStream(Feed<LoggedEvent> events) {
        this.events = events;
    }

    /**
     * Waits for the next event, and says whether there is one.
     *
     * @throws dev.parley.protocol.A2AException if the agent ended the stream with an error
     * @throws ClientException STREAM_CUT if it broke and could not be resumed, INTERRUPTED if this thread was
     */
    @Override
    public boolean hasNext() {
        try {
            while (ready.isEmpty()) {
                List<LoggedEvent> more = events.next(PATIENCE);
                if (more == null) {
                    return false;
                }
                ready.addAll(more);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClientException(Problem.INTERRUPTED, "interrupted while waiting for an event", e);
        }
    }

    @Override
    public TaskEvent next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        LoggedEvent event = ready.remove();
        sequence = event.sequence();
        return event.event();
    }

    /** The number of the event that {@link #next} returned last; 0 if the server does not number its events. */
    public long sequence() {
        return sequence;
    }

    /** Ends the stream for this reader. The task goes on. Idempotent; from any thread. */
    @Override
    public void close() {
        events.close();
    }
}
