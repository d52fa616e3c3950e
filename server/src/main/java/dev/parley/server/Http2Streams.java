package dev.parley.server;

import static io.helidon.http.http2.Http2StreamState.HALF_CLOSED_LOCAL;
import static io.helidon.http.http2.Http2StreamState.HALF_CLOSED_REMOTE;
import static io.helidon.http.http2.Http2StreamState.OPEN;

import io.helidon.http.http2.Http2ErrorCode;
import io.helidon.http.http2.Http2Exception;
import io.helidon.http.http2.Http2StreamState;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

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

    // Frames that ask for nothing cost little each, and of most of them Helidon takes any number: settings and pings,
    // which
    // are answered, priorities, windows, headers that go on without a byte. A client has credit for so many, and for a
    // few
    // more with each frame that belongs to a request or an answer: while it reads, it opens two windows, and some
    // measure how
    // far away the server is.
    private static final int CREDIT = 10_000;
    private static final int EARNED = 4;
    private final AtomicInteger credit = new AtomicInteger(CREDIT);

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

    /** @throws Http2Exception if the client has sent too many frames that ask for nothing, which ends the connection */
    void spend() {
        if (credit.getAndDecrement() <= 0) {
            throw new Http2Exception(Http2ErrorCode.ENHANCE_YOUR_CALM, "Too many frames that ask for nothing");
        }
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

    /** A frame of a request or an answer has come, or goes. */
    void earn() {
        if (credit.get() < CREDIT) {
            credit.addAndGet(EARNED);
        }
    }

    Collection<Exchange> exchanges() {
        return exchanges.values();
    }
}
