package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.LoggedEvent;
import java.util.Map;

/** What a server sends back. */
public sealed interface WireAnswer {
    /** Headers besides {@code Content-Length}; names as they shall be written. */
    Map<String, String> headers();

    /**
     * A whole answer. To a HEAD request it has the body that GET would have had: the server sends the length of it, and
     * not it.
     */
    record Whole(int status, Map<String, String> headers, byte[] body) implements WireAnswer {}

    /** Status 200 and a stream of server-sent events that lasts until {@code events} ends. The server closes it. */
    record Events(Map<String, String> headers, EventStream events, Frames frames) implements WireAnswer {}

    /** Turns events into server-sent event frames, complete with the blank line at their end. */
    interface Frames {
        /** Returns the frame of an event, or no bytes if this reader is not shown it. */
        byte[] frame(LoggedEvent event);

        /** Returns the last frame of a stream that broke. */
        byte[] failure(A2AException problem);
    }
}
