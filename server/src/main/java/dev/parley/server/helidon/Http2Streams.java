package dev.parley.server.helidon;

import static dev.parley.server.helidon.ExchangeState.NEVER;
import static io.helidon.http.http2.Http2StreamState.HALF_CLOSED_LOCAL;
import static io.helidon.http.http2.Http2StreamState.HALF_CLOSED_REMOTE;
import static io.helidon.http.http2.Http2StreamState.OPEN;

import dev.parley.server.limits.UnfinishedRequests;
import io.helidon.http.http2.Http2ErrorCode;
import io.helidon.http.http2.Http2Exception;
import io.helidon.http.http2.Http2StreamState;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one connection of HTTP/2 and the exchanges on them.
 *
 * <p>Source: RFC 9113, section 5.1.
 */
final class Http2Streams {
    /** Limit of open streams of a connection. */
    static final int MOST = 1024;

    // A client may reset a stream that has ended on both sides: its reset and the answer cross, or it resets the
    // stream again when the answer arrives. Such a reset has to be ignored, but Helidon, once it has removed the
    // stream, treats the reset as one of an idle stream and ends the connection. So these resets are not passed on.
    // The order matters: a stream is removed here before Helidon gets the bytes with which it removes the stream, and
    // the look-up for a reset happens after Helidon has read all earlier bytes of the client.

    private final Map<Integer, Http2StreamState> open = new ConcurrentHashMap<>();
    private final Map<Integer, ExchangeState> exchanges = new ConcurrentHashMap<>();
    private final Set<Integer> incoming = ConcurrentHashMap.newKeySet();
    private int last;

    // If an answer ends before its request, gRPC's client for Java resets the stream, and may send the rest of the
    // request all the same. Helidon would end the connection with all its streams, so it does not get this data, which
    // uses up the window of the connection: a quarter at most, as Helidon enlarges it when half of it is used.
    private static final int MOST_CUT_OFF = 100;
    private static final int MOST_DROPPED = 64 * 1024;
    private final LinkedHashSet<Integer> cutOff = new LinkedHashSet<>();
    private int dropped;

    private volatile int window = 65_535; // RFC 9113, section 6.5.2

    // Frames that ask for nothing cost little each, and Helidon accepts any number of most of them: settings and pings,
    // which it answers, priorities, windows, headers that go on without a byte. A client has credit for so many, and
    // for a few more with each frame that belongs to a request or an answer: a client that reads opens two windows, and
    // some measure the round trip. A reset takes back what its request has earned, so that a client that opens streams
    // and resets them runs out of credit.
    private static final int CREDIT = 10_000;
    private static final int EARNED = 4;
    static final int RESET = EARNED + 1;
    private final AtomicInteger credit = new AtomicInteger(CREDIT);

    /**
     * A request that was answered before it was complete. Its thread waits for the rest.
     *
     * @param deadline for the rest, on the clock of {@link Connections}; the connection ends then
     * @param refused the thread that waits, if its caller was refused
     * @param waits until when that thread waits
     */
    private record Unread(long deadline, @Nullable Thread refused, long waits) {
        Unread(long deadline) {
            this(deadline, null, NEVER);
        }
    }

    private final Map<Integer, Unread> unread = new ConcurrentHashMap<>();
    private final UnfinishedRequests.Share unfinished;

    Http2Streams(UnfinishedRequests.Share unfinished) {
        this.unfinished = unfinished;
    }

    // --- for the thread that reads

    /**
     * The client opens a stream, or sends trailers on it.
     *
     * @throws Http2Exception if the client has too many requests that have not come in whole, which ends the connection
     */
    void headers(int stream, boolean end) {
        if (stream > last) {
            last = stream;
            open.put(stream, end ? HALF_CLOSED_REMOTE : OPEN);
            if (!end) {
                incoming.add(stream);
                if (!unfinished.begin()) {
                    throw new Http2Exception(Http2ErrorCode.ENHANCE_YOUR_CALM, "Too many unfinished requests");
                }
            }
        } else if (end) {
            requestEnds(stream);
        }
    }

    void requestEnds(int stream) {
        received(stream);
        open.computeIfPresent(stream, (id, state) -> state == HALF_CLOSED_LOCAL ? null : HALF_CLOSED_REMOTE);
    }

    private void received(int stream) {
        if (incoming.remove(stream)) {
            unfinished.end();
            var exchange = exchanges.get(stream);
            if (exchange != null) {
                LockSupport.unpark(exchange.thread());
            }
        }
        unread.remove(stream);
    }

    /** The client says how much of an answer may be sent before it asks for more. */
    void window(int bytes) {
        window = bytes;
    }

    /** The connection has ended. */
    void disconnected() {
        incoming.forEach(this::received);
        exchanges.values().forEach(ExchangeState::disconnected);
    }

    /** The client resets a stream. Returns false if Helidon must not see the reset. */
    boolean reset(int stream) {
        if (incoming.contains(stream) && cutOff.add(stream) && cutOff.size() > MOST_CUT_OFF) {
            cutOff.removeFirst();
        }
        received(stream);
        boolean wasOpen = open.remove(stream) != null;
        // Only now: the thread that begins the exchange enters it first, and then looks whether the stream is open.
        var exchange = exchanges.get(stream);
        if (exchange != null) {
            exchange.reset();
        }
        return wasOpen || stream > last;
    }

    /** Whether Helidon must not see data of a stream, since its request was reset before it was whole. */
    boolean drops(int stream, int bytes) {
        return cutOff.contains(stream) && (dropped += bytes) <= MOST_DROPPED;
    }

    /** @throws Http2Exception if the client has sent too many frames that ask for nothing, which ends the connection */
    void spend(int price) {
        if (credit.getAndAdd(-price) <= 0) {
            throw new Http2Exception(Http2ErrorCode.ENHANCE_YOUR_CALM, "Too many frames that ask for nothing");
        }
    }

    // --- for the threads of the exchanges

    void begin(ExchangeState exchange) {
        exchanges.put(exchange.id(), exchange);
        if (!open.containsKey(exchange.id())) {
            exchange.reset();
        }
    }

    /** Records that the next frame ends the answer. */
    void answerEnds(ExchangeState exchange) {
        open.computeIfPresent(exchange.id(), (id, state) -> state == HALF_CLOSED_REMOTE ? null : HALF_CLOSED_LOCAL);
    }

    /**
     * Waits until a request has come in whole.
     *
     * @return false if it has not within so many nanoseconds, or the thread is interrupted
     */
    boolean awaitWhole(int stream, long nanos) {
        long end = System.nanoTime() + nanos;
        while (incoming.contains(stream)) {
            long left = end - System.nanoTime();
            if (left <= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(this, left);
        }
        return true;
    }

    /**
     * The exchange has ended.
     *
     * @param now on the clock of {@link Connections}
     * @param patience for the rest of its request, for which Helidon waits
     * @param patienceOfRefused for how long the thread waits for it if its caller was refused; 0 interrupts it
     */
    void end(ExchangeState exchange, long now, long patience, long patienceOfRefused) {
        unread.put(
                exchange.id(),
                exchange.wasAdmitted()
                        ? new Unread(now + patience)
                        : new Unread(now + patience, exchange.thread(), now + patienceOfRefused));
        if (!incoming.contains(exchange.id())) {
            unread.remove(exchange.id());
        } else if (!exchange.wasAdmitted() && patienceOfRefused == 0) {
            exchange.thread().interrupt();
        }
        answerEnds(exchange);
        exchanges.remove(exchange.id(), exchange);
    }

    // --- for any thread

    /** Bytes of an answer that may be sent before a window update of its stream. */
    int window() {
        return window;
    }

    /** A frame of a request or an answer has come, or goes. */
    void earn() {
        if (credit.get() < CREDIT) {
            credit.addAndGet(EARNED);
        }
    }

    Collection<ExchangeState> exchanges() {
        return exchanges.values();
    }

    /**
     * Whether the rest of a request is late. Ends the wait for it sooner if its caller was refused: others of the connection
     * may have been, and go on.
     */
    boolean late(long now) {
        unread.forEach((stream, each) -> {
            if (each.refused != null && now > each.waits && unread.replace(stream, each, new Unread(each.deadline))) {
                each.refused.interrupt();
            }
        });
        return exchanges.values().stream().anyMatch(each -> now > each.bodyDeadline())
                || unread.values().stream().anyMatch(each -> now > each.deadline);
    }
}
