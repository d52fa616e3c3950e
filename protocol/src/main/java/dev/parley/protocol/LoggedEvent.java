package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An event and its place in its task's log.
 *
 * <p>Keeps its canonical bytes once they were encoded, so that the log and all streams write
 * the same bytes. Safe for any thread; two that ask at once may both encode.
 */
public final class LoggedEvent {
    private final long sequence;
    private final TaskEvent event;
    private volatile byte @Nullable [] encoded;

    /** @param sequence from 1, without gaps; 0 for an event that is in no log (a message that is the whole answer) */
    public LoggedEvent(long sequence, TaskEvent event) {
        if (sequence < 0) {
            throw new IllegalArgumentException("sequence: " + sequence + " (expected: >= 0)");
        }
        this.sequence = sequence;
        this.event = requireNonNull(event, "event");
    }

    public long sequence() {
        return sequence;
    }

    public TaskEvent event() {
        return event;
    }

    /** The bytes that {@code encoder} makes of the event, made once. There is one encoder: A2A 1.0 JSON. */
    public byte[] encoded(Function<TaskEvent, byte[]> encoder) {
        byte[] bytes = encoded;
        if (bytes == null) {
            bytes = encoder.apply(event);
            encoded = bytes;
        }
        return bytes;
    }

    @Override
    public String toString() {
        return sequence + ": " + event;
    }
}
