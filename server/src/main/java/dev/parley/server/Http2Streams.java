package dev.parley.server;

import static io.helidon.http.http2.Http2StreamState.HALF_CLOSED_LOCAL;
import static io.helidon.http.http2.Http2StreamState.HALF_CLOSED_REMOTE;
import static io.helidon.http.http2.Http2StreamState.OPEN;

import io.helidon.http.http2.Http2StreamState;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The streams of one connection of HTTP/2 and the exchanges on them.
 *
 * <p>Source: RFC 9113, section 5.1.
 */
final class Http2Streams {
    // A stream that has ended on both sides may still be reset: a client that gives up crosses the answer, and says so
    // again when the answer comes. That has to be ignored, but Helidon, once it has forgotten the stream, takes it for
    // one that never was, and ends the connection with all that runs on it. So it is not told of such resets. The order
    // matters: a stream goes from here before Helidon is given the last bytes that make it forget the stream, and
    // whether it is still here is asked when Helidon has read all that the client sent before the reset.

    private final Map<Integer, Http2StreamState> open = new ConcurrentHashMap<>();
    private final Map<Integer, Exchange> exchanges = new ConcurrentHashMap<>();
    private int last;

    // --- for the thread that reads

    /** The client opens a stream, or sends trailers on it. */
    void headers(int stream, boolean end) {
        if (stream > last) {
            last = stream;
            open.put(stream, end ? HALF_CLOSED_REMOTE : OPEN);
        } else if (end) {
            requestEnds(stream);
        }
    }

    void requestEnds(int stream) {
        open.computeIfPresent(stream, (id, state) -> state == HALF_CLOSED_LOCAL ? null : HALF_CLOSED_REMOTE);
    }

    /** The client wants no more of a stream. Returns false if nobody else needs to hear of it. */
    boolean reset(int stream) {
        boolean wasOpen = open.remove(stream) != null;
        // Only now: the thread that begins the exchange enters it first, and then looks whether the stream is open.
        var exchange = exchanges.get(stream);
        if (exchange != null) {
            exchange.disconnected();
        }
        return wasOpen || stream > last;
    }

    // --- for the threads of the exchanges

    void begin(Exchange exchange) {
        exchanges.put(exchange.id(), exchange);
        if (!open.containsKey(exchange.id())) {
            exchange.disconnected();
        }
    }

    /** What comes next is the end of the answer. */
    void answerEnds(Exchange exchange) {
        open.computeIfPresent(exchange.id(), (id, state) -> state == HALF_CLOSED_REMOTE ? null : HALF_CLOSED_LOCAL);
    }

    void end(Exchange exchange) {
        answerEnds(exchange);
        exchanges.remove(exchange.id(), exchange);
    }

    // --- for any thread

    Collection<Exchange> exchanges() {
        return exchanges.values();
    }
}
