package dev.parley.dialect.spi;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import java.util.Map;
import java.util.function.Function;

/** Answer of a server. */
public sealed interface WireAnswer {
    /** Headers besides {@code Content-Length}; names as they shall be written. */
    Map<String, String> headers();

    /**
     * A whole answer. To a HEAD request it has the body that GET would have had: the server sends the length of it, and
     * not it.
     */
    record Whole(int status, Map<String, String> headers, byte[] body) implements WireAnswer {}

    /**
     * Status 200 and a stream of server-sent events that lasts until {@code frames} ends. The server closes it.
     *
     * @param frames events complete with the blank line at their end; one without bytes is not shown to this reader
     * @param failure makes the last frame of a stream that broke
     */
    record Events(Map<String, String> headers, Feed<byte[]> frames, Function<A2AException, byte[]> failure)
            implements WireAnswer {}
}
