package dev.parley.server.helidon;

import static dev.parley.server.helidon.ExchangeState.NEVER;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.server.limits.BodyBudget;
import dev.parley.server.limits.CurrentAdmission;
import dev.parley.server.limits.HealthWatches;
import dev.parley.server.limits.Proxies;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import io.helidon.http.http2.Http2Exception;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.security.cert.X509Certificate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A request and its answer. Belongs to the thread that made it, except where a method says otherwise. */
public final class Exchange extends ExchangeState {
    private static final long STEP = 1024;
    private static final int MOST_AT_ONCE = 64 * 1024;

    private final ClientConnection connection;
    private final Consumer<Boolean> close;
    private final RoutingRequest request;
    private final RoutingResponse response;
    private final @Nullable X509Certificate certificate;
    private final CurrentAdmission admission = new CurrentAdmission();
    private final BodyBudget.Taken taken;
    private boolean refused;
    private Runnable endShare;
    private @Nullable String early;
    private long largest;
    private long pulled;
    private long free;

    Exchange(
            ClientConnection connection,
            Consumer<Boolean> close,
            RoutingRequest request,
            RoutingResponse response,
            @Nullable X509Certificate certificate) {
        super(request.id(), connection.streamThread());
        this.certificate = certificate;
        this.connection = connection;
        this.close = close;
        var stream = stream();
        var share = stream == null ? connection.takeShare() : stream.takeShare();
        this.early = share == null ? null : share.group();
        this.endShare = share == null ? () -> {} : share.end();
        this.taken = connection.all().bodies().new Taken();
        this.request = request;
        this.response = response;
    }

    // --- the request

    /** The method, as the client wrote it. */
    public String method() {
        return request.prologue().method().text();
    }

    /** The path with its escapes. */
    public String rawPath() {
        return request.prologue().uriPath().rawPath();
    }

    /** The query with its escapes; null if there is none. */
    public @Nullable String rawQuery() {
        return request.prologue().hasQuery() ? request.prologue().query().rawValue() : null;
    }

    /** The values of a header field, separated by commas; null if there is none. */
    public @Nullable String header(String name) {
        var key = Field.name(name);
        if (!request.headers().contains(key)) {
            return null;
        }
        var header = request.headers().get(key);
        return header.valueCount() == 1 ? header.get() : header.values();
    }

    /** Whether the client sent the request over TLS, which may have ended at a proxy. */
    public boolean isSecure() {
        return request.isSecure() || connection.all().proxies().endTls();
    }

    /** Whether the request came over HTTP/2. */
    public boolean isHttp2() {
        return connection.isHttp2();
    }

    /** The address of the client, which a trusted proxy names. */
    public String clientAddress() {
        var proxies = connection.all().proxies();
        return proxies.trusted().isEmpty()
                ? connection.clientAddress()
                : proxies.client(connection.clientAddress(), header(Proxies.FORWARDED_FOR));
    }

    /** Whether the server stops. */
    public boolean draining() {
        return connection.all().draining();
    }

    /** Watches of health on the same connection. */
    public HealthWatches.Share watches() {
        return connection.watches();
    }

    // --- the caller

    /** The head of the request, as the input of authentication. */
    public RequestHead arrival(String path) {
        return new RequestHead(method(), path, this::header, clientAddress(), certificate, isSecure());
    }

    /** The request is refused. Counts once, and only if the caller was not admitted. */
    public void refused() {
        decided();
        if (!refused && !wasAdmitted()) {
            refused = true;
            connection.refused(clientAddress());
        }
    }

    private void decided() {
        var stream = stream();
        if (stream != null) {
            stream.decided();
        }
    }

    /** The admission of the caller. */
    public CurrentAdmission admission() {
        return admission;
    }

    @Override
    boolean wasAdmitted() {
        return admission.wasAdmitted();
    }

    /** Waits until the call may have a share of the processors; to be called when all of it is here. */
    public void awaitShare() {
        decided();
        if (!admission.wasAdmitted()) {
            return;
        }
        var group = admission.group();
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

    /** Ends the share of this call; the rest of the answer takes none. */
    public void endShare() {
        endShare.run();
    }

    // --- the body

    /** Whether the request has a body. */
    public boolean hasBody() {
        return request.content().hasEntity();
    }

    /** Length of the body in bytes; negative if unknown. */
    public long announced() {
        return request.headers().contentLength().orElse(-1);
    }

    /** The most bytes that a body may have. */
    public long largestBody() {
        return connection.all().bodies().largest();
    }

    /** The bytes of the body. Reading waits for them. */
    public InputStream body() {
        return request.content().inputStream();
    }

    /** Returns the problem of a body as the connection answers it: Helidon throws the first two for a damaged chunk or its length. */
    public RuntimeException ofBody(RuntimeException problem) {
        if (!(problem instanceof DataReader.IncorrectNewLineException || problem instanceof IllegalArgumentException)) {
            return problem;
        }
        return RequestException.builder()
                .type(EventType.BAD_REQUEST)
                .message("Malformed chunk")
                .cause(problem)
                .build();
    }

    /** Waits for the body of a refused request: false if it did not come whole in so many nanoseconds. */
    public boolean awaitRefused(long nanos) {
        refused();
        return connection.awaitRefused(this, nanos);
    }

    /** Ends {@link #awaitRefused}. */
    public void endRefused() {
        connection.endRefused();
    }

    /** The body is read from now on, of so many bytes at most. */
    public void bodyBegins(long largest) {
        this.largest = largest;
        bodyDeadline(connection.all().now() + connection.all().patience().body());
        var stream = stream();
        if (stream != null) {
            stream.decided();
            stream.beginReading();
        }
    }

    /** The body is not read any more. */
    public void bodyEnds() {
        bodyDeadline(NEVER);
        var stream = stream();
        if (stream != null) {
            stream.endReading();
        }
    }

    /**
     * Counts bytes that arrive while the request is handled, before they are parsed: chunks are read as a
     * whole, and the line with the length of a chunk has no limit of its own.
     *
     * @throws A2AException if they are too many for one request, or for this server at this time
     */
    @Override
    public void pulled(int bytes) {
        pulled += bytes;
        // A small body stays within what every connection may take.
        if (pulled > Math.max(2 * largest, BodyBudget.FREE)) {
            throw A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
        }
        var missing = pulled - free - taken.bytes();
        if (missing > 0) {
            take((missing + STEP - 1) / STEP * STEP);
        }
    }

    private void take(long bytes) {
        var unused = Math.min(bytes, connection.free().getAndUpdate(left -> left - Math.min(left, bytes)));
        free += unused;
        if (unused < bytes) {
            taken.take(admission.group(), bytes - unused);
        }
    }

    void release() {
        endShare();
        admission.leave();
        taken.giveBack();
        connection.free().addAndGet(free);
        free = 0;
    }

    /** Counts bytes of a body; those of HTTP/1.1 were counted as they came. */
    public void read(int bytes) {
        if (isHttp2()) {
            pulled(bytes);
        }
    }

    // --- the answer

    /** Sets the status, which is 200 otherwise. */
    public void status(int code) {
        if (code >= Status.BAD_REQUEST_400.code()) {
            refused();
        }
        response.status(Status.create(code));
    }

    /** Sets a field of the answer. */
    public void set(Field field) {
        response.headers().set(field.header());
    }

    /** Sets a field of the answer. */
    public void set(String name, String value) {
        response.headers().set(HeaderValues.create(Field.name(name), value));
    }

    /** Adds a value to a field of the answer. */
    public void add(Field field) {
        response.headers().add(field.header());
    }

    /** Removes a field of the answer. */
    public void remove(String name) {
        response.headers().remove(Field.name(name));
    }

    /** Sets a field that follows the body. */
    public void trailer(String name, String value) {
        response.trailers().set(HeaderValues.create(Field.name(name), value));
    }

    /** The body of an answer of unknown length. Writing waits until the client takes the bytes. */
    public OutputStream output() {
        return response.outputStream();
    }

    /** Reads ahead while an answer goes out, to learn when the client leaves. */
    public void watch() {
        connection.readAhead();
    }

    /** Helidon says {@code Connection: close} when the client asked for it, and then reads on; so it is closed here. */
    public void prepareEnd() {
        if (isHttp2()) {
            return;
        }
        var complete = request.content().consumed();
        if (!complete || draining()) {
            response.headers().set(HeaderValues.CONNECTION_CLOSE);
        } else if (!request.headers().contains(HeaderNames.CONNECTION)
                || !request.headers().containsToken(HeaderValues.CONNECTION_CLOSE)) {
            return;
        }
        close.accept(complete);
    }

    // --- the end

    /** Ends without an answer; a stream of HTTP/2 that was reset is over for Helidon already. */
    public void abandon() {
        if (!isHttp2()) {
            requirePresent();
        }
    }

    /** Returns what ends the connection if it is thrown: what the client sends cannot be a request. */
    public RuntimeException broken(String reason) {
        return new CloseConnectionException(reason);
    }

    /** Throws a problem again that the connection answers or logs. Others are for the caller. */
    public static void passOn(RuntimeException problem) {
        if (problem instanceof CloseConnectionException || problem instanceof RequestException) {
            throw problem;
        }
    }

    /** Throws a problem again that is of the connection: {@link #passOn}, or bytes cannot be written. */
    public static void passOnWriting(RuntimeException problem) {
        passOn(problem);
        if (problem instanceof UncheckedIOException || problem instanceof Http2Exception) {
            throw problem;
        }
    }

    /** Sends the body and the end of the answer. */
    public void send(byte[] body) {
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
    public void together(int bytes) {
        var stream = stream();
        if (stream != null && bytes <= connection.mostTogether()) {
            stream.answerTogether(bytes);
        }
    }

    /** Sends the end of an answer after its body. */
    public void commit() {
        connection.answerEnds(this);
        response.commit();
    }

    /** Throws if the client has gone, since it cannot read an answer. */
    public void requirePresent() {
        if (gone()) {
            throw new CloseConnectionException("the client is gone");
        }
    }
}
