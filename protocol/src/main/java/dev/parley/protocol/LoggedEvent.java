package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An event and its place in its task's log.
 *
 * <p>Keeps its canonical bytes once they were encoded, so that the log and all streams write
 * the same bytes. Safe for any thread; two that ask at once may both encode.
 */
public final class LoggedEvent {
    /** Range of an array that several events share. The array is never changed. */
    public record Bytes(byte[] array, int from, int length) {}

    private final long sequence;
    private final TaskEvent event;
    private volatile @Nullable Bytes encoded;

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
        Bytes bytes = bytes(encoder);
        return bytes.length == bytes.array.length
                ? bytes.array
                : Arrays.copyOfRange(bytes.array, bytes.from, bytes.from + bytes.length);
    }

    /** {@link #encoded} without a copy. */
    public Bytes bytes(Function<TaskEvent, byte[]> encoder) {
        Bytes bytes = encoded;
        if (bytes == null) {
            byte[] array = encoder.apply(event);
            bytes = new Bytes(array, 0, array.length);
            encoded = bytes;
        }
        return bytes;
    }

    /** Sets the bytes of the event, unless it has some, to a range of {@code array}, which must not change afterwards. */
    public void encodedIn(byte[] array, int from, int length) {
        if (encoded == null) {
            encoded = new Bytes(array, from, length);
        }
    }

    /** Returns the length of the bytes of the event; empty before they are made. */
    public OptionalInt encodedLength() {
        Bytes bytes = encoded;
        return bytes == null ? OptionalInt.empty() : OptionalInt.of(bytes.length);
    }

    @Override
    public String toString() {
        return sequence + ": " + event;
    }
}
