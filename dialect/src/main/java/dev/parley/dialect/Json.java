package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.TaskEvent;
import java.util.List;

/**
 * The canonical JSON of the model: ProtoJSON as A2A 1.0 defines it. The wire, the log and files use this one form.
 *
 * <p>Source: A2A specification 1.0, section 5.5.
 */
public final class Json {
    private Json() {}

    /** Returns the JSON of any value of the model, or of maps, lists, strings, numbers, booleans and null. */
    public static byte[] write(Object value) {
        throw new UnsupportedOperationException("" + value);
    }

    /**
     * Reads a value of the model.
     *
     * @throws A2AException PARSE_ERROR if it is no JSON, INVALID_PARAMS naming the field if it does not fit {@code type}
     */
    public static <T> T read(byte[] json, Class<T> type) {
        throw new UnsupportedOperationException(type + " " + json.length);
    }

    /** Returns the JSON of a StreamResponse. */
    public static byte[] writeEvent(TaskEvent event) {
        throw new UnsupportedOperationException("" + event);
    }

    /** Reads an array of StreamResponses, as {@link #writeEvent} wrote each of them. */
    public static List<TaskEvent> readEvents(byte[] json) {
        throw new UnsupportedOperationException("" + json.length);
    }
}
