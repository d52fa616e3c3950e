package dev.parley.server;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.grpc.GrpcAnswer;
import dev.parley.dialect.grpc.GrpcDialect;
import dev.parley.dialect.grpc.GrpcRequest;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.server.helidon.Exchange;
import dev.parley.server.helidon.Field;
import dev.parley.server.limits.EmptyStream;
import dev.parley.server.limits.OpenStreams;
import dev.parley.server.wire.GrpcMessages;
import dev.parley.server.wire.GrpcTimeout;
import io.grpc.Status;
import io.grpc.Status.Code;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One gRPC call: reads its messages from the request, and writes the answer as frames and trailers.
 *
 * <p>A write waits for the client's flow-control window, so a client that does not read holds a position in the log only. Confined
 * to the thread of its exchange.
 *
 * <p>Source: gRPC over HTTP/2, "Requests" and "Responses".
 */
final class GrpcCall {
    private static final Field CONTENT_TYPE = Field.of("Content-Type", "application/grpc");
    private static final Field TRAILER = Field.of("Trailer", "grpc-status");
    private static final String STATUS = "grpc-status";
    private static final String MESSAGE = "grpc-message";
    private static final String DETAILS = "grpc-status-details-bin";
    private static final String ACCEPT_ENCODING = "grpc-accept-encoding";
    private static final String HEALTH = "grpc.health.";
    private static final Duration RETRY = Duration.ofSeconds(5);
    // A write that takes too long is cut, so a slow but honest reader must not be given too much in one.
    private static final int MOST_AT_ONCE = 64 * 1024;
    private static final Duration FOREVER = Duration.ofDays(1);

    private final GrpcDialect dialect;
    private final BrowserRule browsers;
    private final Authenticator authenticator;
    private final OpenStreams streams;
    private final Gate gate;
    private final IntConsumer refusals;
    private final Exchange exchange;
    private final String method;
    private final Function<String, @Nullable String> metadata;
    private @Nullable OutputStream out;
    private boolean admitted;

    GrpcCall(
            GrpcDialect dialect,
            BrowserRule browsers,
            Authenticator authenticator,
            OpenStreams streams,
            Gate gate,
            IntConsumer refusals,
            Exchange exchange) {
        this.dialect = dialect;
        this.browsers = browsers;
        this.authenticator = authenticator;
        this.streams = streams;
        this.gate = gate;
        this.refusals = refusals;
        this.exchange = exchange;
        this.method = exchange.rawPath().substring(1);
        this.metadata = exchange::header;
    }

    /** True for what only a client of gRPC sends; gRPC-Web is something else. */
    static boolean is(Exchange exchange) {
        var type = exchange.isHttp2() ? exchange.header("Content-Type") : null;
        return type != null
                && (type.equals("application/grpc")
                        || type.startsWith("application/grpc+proto")
                        || type.startsWith("application/grpc;"));
    }

    void run() {
        try {
            var failure = answer();
            if (failure != null && out == null) {
                refused(httpStatus(failure.status()));
            }
            end(failure);
        } catch (A2AException e) {
            var told = gate.isEnded() ? unavailable() : e;
            refused(told.error().httpStatus());
            end(GrpcDialect.failure(told));
        }
    }

    private boolean isOfCondition() {
        return method.startsWith(HEALTH);
    }

    private boolean stops() {
        return exchange.draining() || gate.isEnded();
    }

    private A2AException unavailable() {
        return A2AException.unavailable(gate.isEnded() ? "The server is not ready" : "Shutting down", RETRY);
    }

    private void refused(int status) {
        if (!admitted) {
            refusals.accept(status);
            exchange.refused();
        }
    }

    private static int httpStatus(int grpcStatus) {
        return switch (Status.fromCodeValue(grpcStatus).getCode()) {
            case UNAUTHENTICATED -> 401;
            case PERMISSION_DENIED -> 403;
            case NOT_FOUND, UNIMPLEMENTED -> 404;
            case RESOURCE_EXHAUSTED -> 429;
            case UNAVAILABLE -> 503;
            case INTERNAL -> 500;
            default -> 400;
        };
    }

    /** Sends the messages of the answer; returns the failure for the trailers, null for none. */
    private GrpcAnswer.@Nullable Failure answer() {
        if (stops() && !isOfCondition()) {
            throw unavailable();
        }
        browsers.check("POST", exchange::header);
        var encoding = metadata.apply("grpc-encoding");
        if (!GrpcMessages.knows(encoding)) {
            exchange.set(ACCEPT_ENCODING, GrpcMessages.ENCODINGS);
            return failure(Code.UNIMPLEMENTED, "Unknown grpc-encoding (expected: " + GrpcMessages.ENCODINGS + ")");
        }
        var timeout = metadata.apply("grpc-timeout");
        var deadline = timeout == null ? null : Instant.now().plus(GrpcTimeout.parse(timeout));
        var messages = new GrpcMessages(exchange, encoding);
        return dialect.isConversation(method) ? converse(messages, deadline) : answerOne(messages, deadline);
    }

    private GrpcAnswer.@Nullable Failure answerOne(GrpcMessages messages, @Nullable Instant deadline) {
        requireCredentialsSoon();
        var message = messages.next();
        if (message == null || messages.next() != null) {
            return failure(Code.INVALID_ARGUMENT, "Not one message (expected: exactly one)");
        }
        return send(message, deadline);
    }

    /** The message names the agent, but a caller without credentials could have the server wait for it. */
    private void requireCredentialsSoon() {
        if (isOfCondition()) {
            return;
        }
        var arrival = exchange.arrival(method);
        if (authenticator.lacksCredentials(arrival) && !exchange.awaitRefused(Exchange.SOON)) {
            exchange.requirePresent();
            authenticator.admit(Authenticator.NO_AGENT, arrival).leave().run();
        }
    }

    private GrpcAnswer.@Nullable Failure converse(GrpcMessages messages, @Nullable Instant deadline) {
        for (var message = messages.next(); message != null; message = messages.next()) {
            var failure = send(message, deadline);
            if (failure != null) {
                return failure;
            }
        }
        return null;
    }

    private GrpcAnswer.@Nullable Failure send(byte[] message, @Nullable Instant deadline) {
        var request = new GrpcRequest(method, metadata, deadline, message, exchange.clientAddress());
        var answer = dialect.answer(request, this::caller);
        if (gate.isEnded() && !isOfCondition()) { // made from data that may be wrong by now
            if (answer instanceof GrpcAnswer.Events events) {
                events.messages().close();
            }
            throw unavailable();
        }
        return switch (answer) {
            case GrpcAnswer.Whole whole -> {
                open(whole.metadata());
                var frame = frame(whole.message());
                if (dialect.isConversation(method)) {
                    write(frame);
                    flush();
                } else {
                    exchange.together(frame.length);
                    write(frame);
                }
                yield null;
            }
            case GrpcAnswer.Events events -> stream(events, deadline);
            case GrpcAnswer.UntilStop watch -> watchUntilStop(watch, deadline);
            case GrpcAnswer.Failure failure -> failure;
        };
    }

    private CallContext caller(@Nullable ServedAgent agent) {
        try {
            var name = agent == null ? Authenticator.NO_AGENT : agent.name();
            var admission = authenticator.admit(name, exchange.arrival(method));
            if (agent == null) {
                admission.leave().run(); // without its headers: an agent that is hidden has none
                return admission.caller();
            }
            exchange.admission().admitted(admission);
            exchange.awaitShare();
            admitted = true;
            return admission.caller();
        } catch (A2AException refusal) {
            throw refusal.error() == A2AError.METHOD_NOT_FOUND ? GrpcDialect.noSuchAgent() : refusal;
        }
    }

    // --- streams

    private GrpcAnswer.@Nullable Failure stream(GrpcAnswer.Events answer, @Nullable Instant deadline) {
        var events = answer.messages();
        if (!streams.enter(exchange.admission().group(), events)) {
            events.close();
            throw A2AException.unavailable("Too many open streams", RETRY);
        }
        exchange.endShare();
        try {
            exchange.whenGone(events::close);
            open(answer.metadata());
            return sendAll(answer, deadline);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failure(Code.UNAVAILABLE, "Shutting down");
        } finally {
            events.close();
            streams.leave(events);
        }
    }

    private GrpcAnswer.@Nullable Failure watchUntilStop(GrpcAnswer.UntilStop answer, @Nullable Instant deadline) {
        var silence = new EmptyStream();
        var watches = exchange.watches();
        if (!watches.enter(silence)) {
            throw A2AException.unavailable("Too many health watches", RETRY);
        }
        try {
            exchange.whenGone(silence::close);
            open(Map.of());
            write(frame(answer.now()));
            flush();
            var patience = deadline == null ? FOREVER : Duration.between(Instant.now(), deadline);
            if (silence.next(patience) != null) {
                return failure(Code.DEADLINE_EXCEEDED, "The deadline has passed");
            }
            if (!stops()) {
                return null; // the client has gone
            }
            if (!Arrays.equals(answer.now(), answer.whenStopping())) {
                write(frame(answer.whenStopping()));
                flush();
            }
            return failure(Code.UNAVAILABLE, "Shutting down");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failure(Code.UNAVAILABLE, "Shutting down");
        } finally {
            watches.leave(silence);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // fairness, not correctness, depends on it
    private GrpcAnswer.@Nullable Failure sendAll(GrpcAnswer.Events answer, @Nullable Instant deadline)
            throws InterruptedException {
        var events = exchange.admission().whileValid(answer.messages());
        var patience = Duration.ZERO;
        while (true) {
            List<byte[]> batch;
            try {
                batch = events.next(patience);
                if (batch == null) {
                    // A stream that was cut short shall not look as if it had come to its end.
                    return stops() ? failure(Code.UNAVAILABLE, "Shutting down") : null;
                }
                send(batch);
                flush();
            } catch (RuntimeException e) {
                Exchange.passOnWriting(e);
                exchange.requirePresent();
                return answer.failure().apply(e);
            }
            // Virtual threads are not preempted: a stream that always has more would keep its processor to itself.
            Thread.yield();
            patience = deadline == null ? FOREVER : Duration.between(Instant.now(), deadline);
            if (!patience.isPositive()) {
                return failure(Code.DEADLINE_EXCEEDED, "The deadline has passed");
            }
        }
    }

    /** Events that come together leave together: one write, not one each. */
    private void send(List<byte[]> batch) {
        if (batch.size() == 1) { // as almost always
            write(frame(batch.getFirst()));
            return;
        }
        var together = new ByteArrayOutputStream();
        for (var message : batch) {
            together.writeBytes(frame(message));
            if (together.size() >= MOST_AT_ONCE) {
                write(together.toByteArray());
                together.reset();
            }
        }
        write(together.toByteArray());
    }

    // --- frames

    private static byte[] frame(byte[] message) {
        var frame = new byte[message.length + 5];
        for (int i = 0; i < 4; i++) {
            frame[i + 1] = (byte) (message.length >> 8 * (3 - i));
        }
        System.arraycopy(message, 0, frame, 5, message.length);
        return frame;
    }

    private void open(Map<String, String> metadata) {
        if (out == null) {
            exchange.set(CONTENT_TYPE);
            exchange.admission().headers().forEach(exchange::set);
            metadata.forEach(exchange::set);
            out = exchange.output();
            exchange.set(TRAILER); // in the place of the trailer that Helidon would add for itself
        }
    }

    /** Writes bytes of the answer. The first write is held until the next one, so that headers and data share a frame; without bytes it is only the headers. */
    private void write(byte[] bytes) {
        var to = requireNonNull(out);
        try {
            int from = 0;
            do {
                int length = Math.min(MOST_AT_ONCE, bytes.length - from);
                to.write(bytes, from, length);
                from += length;
            } while (from < bytes.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void flush() {
        try {
            requireNonNull(out).flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void end(GrpcAnswer.@Nullable Failure failure) {
        if (exchange.gone()) {
            return;
        }
        boolean begun = out != null;
        open(Map.of());
        if (!begun) {
            // Then there is nothing but trailers, and they go where headers are.
            exchange.remove("Trailer");
        }
        outcome(begun ? exchange::trailer : exchange::set, failure);
        exchange.commit();
    }

    private static void outcome(BiConsumer<String, String> headers, GrpcAnswer.@Nullable Failure failure) {
        if (failure == null) {
            headers.accept(STATUS, "0");
            return;
        }
        headers.accept(STATUS, String.valueOf(failure.status()));
        headers.accept(MESSAGE, escaped(failure.message()));
        if (failure.details().length > 0) {
            headers.accept(DETAILS, Base64.getEncoder().withoutPadding().encodeToString(failure.details()));
        }
    }

    private static GrpcAnswer.Failure failure(Code code, String message) {
        return new GrpcAnswer.Failure(code.value(), message, new byte[0]);
    }

    private static String escaped(String message) {
        var escaped = new StringBuilder();
        for (byte octet : message.getBytes(StandardCharsets.UTF_8)) {
            if (octet >= ' ' && octet <= '~' && octet != '%') {
                escaped.append((char) octet);
            } else {
                escaped.append(String.format("%%%02X", octet & 0xff));
            }
        }
        return escaped.toString();
    }
}
