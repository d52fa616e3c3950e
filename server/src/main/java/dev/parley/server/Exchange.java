package dev.parley.server;

import static dev.parley.server.Connections.NEVER;

import dev.parley.dialect.Admission;
import dev.parley.dialect.Arrival;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A request and its answer. Belongs to the thread that made it, except where a method says otherwise. */
final class Exchange {
    private static final long STEP = 1024;
    private static final int MOST_AT_ONCE = 64 * 1024;

    private final Connection connection;
    private final RoutingRequest request;
    private final RoutingResponse response;
    private final @Nullable X509Certificate certificate;
    private final Thread thread = Thread.currentThread();
    private final @Nullable StreamThread stream;
    private volatile long bodyDeadline = NEVER;
    private volatile boolean gone;
    private volatile boolean received;
    private volatile @Nullable Runnable whenGone;
    private @Nullable Admission admission;
    private boolean wasAdmitted;
    private Runnable endShare;
    private @Nullable String early;
    private long largest;
    private long pulled;
    private long free;
    private long taken;
    private String takenBy = "";
    // Only for the clock.
    private boolean seen;

    Exchange(
            Connection connection,
            RoutingRequest request,
            RoutingResponse response,
            @Nullable X509Certificate certificate) {
        this.certificate = certificate;
        this.connection = connection;
        this.stream = connection.streamThread();
        var share = stream == null ? connection.takeShare() : stream.takeShare();
        this.early = share == null ? null : share.group();
        this.endShare = share == null ? () -> {} : share.end();
        this.request = request;
        this.response = response;
    }

    Connection connection() {
        return connection;
    }

    Thread thread() {
        return thread;
    }

    RoutingRequest request() {
        return request;
    }

    RoutingResponse response() {
        return response;
    }

    int id() {
        return request.id();
    }

    // --- the caller

    Arrival arrival(String path, Function<String, @Nullable String> headers) {
        return new Arrival(request.prologue().method().text(), path, headers, connection.clientAddress(), certificate);
    }

    /** The call was let in; one of several that come one after the other on the same exchange. */
    void admitted(Admission next) {
        if (admission != null) {
            admission.leave().run();
        }
        admission = next;
        wasAdmitted = true;
    }

    /** Whether the caller was let in at any time. */
    boolean wasAdmitted() {
        return wasAdmitted;
    }

    /** The group of the caller; empty if it was not asked for credentials yet. */
    String group() {
        return admission == null ? "" : admission.caller().scope().group();
    }

    /** The stream for as long as its caller would be let in. */
    <E> Feed<E> whileAdmitted(Feed<E> stream) {
        return admission == null ? stream : new AdmittedFeed<>(stream, admission.stands());
    }

    /** Waits until the call may have a share of the processors; to be called when all of it is here. */
    void awaitShare() {
        if (admission == null) {
            return;
        }
        var group = admission.caller().scope().group();
        var before = early;
        early = null;
        var shares = connection.all().shares();
        if (before != null && before.equals(group)) {
            shares.called(group);
        } else {
            endShare();
            endShare = shares.enter(group);
            requirePresent();
        }
        connection.calledBy(group);
    }

    /** From now on others of its group may go on: what is still to come of the answer comes when it comes. */
    void endShare() {
        endShare.run();
    }

    /** Headers that the answer has whatever it is. */
    Map<String, String> standingHeaders() {
        return admission == null ? Map.of() : admission.headers();
    }

    // --- the body

    void bodyBegins(long largest) {
        this.largest = largest;
        bodyDeadline = connection.all().now() + connection.all().patience().body();
        if (stream != null) {
            stream.beginReading();
        }
    }

    void bodyEnds() {
        bodyDeadline = NEVER;
        if (stream != null) {
            stream.endReading();
        }
    }

    /** The request has come in whole. */
    void received() {
        received = true;
    }

    /** Whether the request has come in whole, as far as this is known. For any thread. */
    boolean isReceived() {
        return received;
    }

    /** By when the body must be here, on the clock of {@link Connections}. For any thread. */
    long bodyDeadline() {
        return bodyDeadline;
    }

    /**
     * Counts bytes that arrive while the request is handled, before they are parsed: chunks are read as a
     * whole, and the line with the length of a chunk has no limit of its own.
     *
     * @throws A2AException if they are too many for one request, or for this server at this time
     */
    void pulled(int bytes) {
        pulled += bytes;
        // A small body stays within what every connection may take.
        if (pulled > Math.max(2 * largest, BodyBudget.FREE)) {
            throw A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
        }
        var missing = pulled - free - taken;
        if (missing > 0) {
            take((missing + STEP - 1) / STEP * STEP);
        }
    }

    private void take(long bytes) {
        var unused = Math.min(bytes, connection.free().getAndUpdate(left -> left - Math.min(left, bytes)));
        free += unused;
        if (unused < bytes) {
            if (taken == 0) {
                takenBy = group();
            }
            if (!connection.all().bodies().take(takenBy, bytes - unused)) {
                throw A2AException.unavailable("Too many large requests", Duration.ofSeconds(1));
            }
            taken += bytes - unused;
        }
    }

    void release() {
        endShare();
        if (admission != null) {
            admission.leave().run();
            admission = null;
        }
        connection.all().bodies().giveBack(takenBy, taken);
        taken = 0;
        connection.free().addAndGet(free);
        free = 0;
    }

    // --- the end

    /** Sends the body and the end of the answer. */
    void send(byte[] body) {
        if (body.length > MOST_AT_ONCE) {
            sendInPieces(body);
            return;
        }
        together(body.length);
        connection.answerEnds(this);
        response.send(body);
    }

    /** Unlike Helidon, without a copy of the whole body, and without holding the processor until all of it is sent. */
    @SuppressWarnings("ThreadPriorityCheck") // fairness, not correctness, depends on it
    private void sendInPieces(byte[] body) {
        endShare();
        response.headers().contentLength(body.length);
        try {
            var out = response.outputStream();
            for (int from = 0; from < body.length; from += MOST_AT_ONCE) {
                out.write(body, from, Math.min(MOST_AT_ONCE, body.length - from));
                out.flush();
                Thread.yield();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        commit();
    }

    /** Announces an answer with a body of {@code bytes} bytes, none of which has been sent, so that frames can be joined. */
    void together(int bytes) {
        if (stream != null && bytes <= connection.mostTogether()) {
            stream.answerTogether(bytes);
        }
    }

    /** Sends the end of an answer whose body has been written. */
    void commit() {
        connection.answerEnds(this);
        response.commit();
    }

    /** Runs {@code action} once the client is gone: soon, or now. */
    void whenGone(Runnable action) {
        whenGone = action;
        if (gone) {
            action.run();
        }
    }

    boolean gone() {
        return gone;
    }

    /** Throws if the client has gone, since it cannot read an answer. */
    void requirePresent() {
        if (gone) {
            throw new CloseConnectionException("the client is gone");
        }
    }

    /** The connection has ended. For any thread; may be called more than once. */
    void disconnected() {
        leave();
        thread.interrupt();
    }

    /** The client has reset the stream. For any thread. */
    void reset() {
        leave();
        if (stream != null) {
            stream.reset();
        }
    }

    private void leave() {
        gone = true;
        var action = whenGone;
        if (action != null) {
            action.run();
        }
    }

    /** Whether this is the second call. For the clock. */
    boolean isSlow() {
        var slow = seen;
        seen = true;
        return slow;
    }
}
