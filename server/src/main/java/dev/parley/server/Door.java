package dev.parley.server;

import dev.parley.dialect.Dialects;
import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.grpc.GrpcDialect;
import dev.parley.protocol.A2AException;
import dev.parley.server.helidon.Exchange;
import dev.parley.server.limits.OpenStreams;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Answers each request: a preflight, a call of gRPC, or what {@link Routes} finds for its path. */
final class Door implements Consumer<Exchange> {
    private static final Duration RETRY_STREAM = Duration.ofSeconds(5);
    private static final String EVENT_STREAM = "text/event-stream";
    private static final Map<String, String> STREAM_HEADERS =
            Map.of("Content-Type", EVENT_STREAM, "Cache-Control", "no-store, no-transform", "X-Accel-Buffering", "no");

    private final Routes routes;
    private final Cors cors;
    private final BrowserRule browsers;
    private final OpenStreams streams;
    private final Duration keepAlive;
    private final @Nullable Future<GrpcDialect> grpc;
    private final Authenticator authenticator;
    private final IntConsumer refusals;

    Door(
            Routes routes,
            Cors cors,
            BrowserRule browsers,
            OpenStreams streams,
            Duration keepAlive,
            @Nullable Future<GrpcDialect> grpc,
            Authenticator authenticator,
            IntConsumer refusals) {
        this.routes = routes;
        this.cors = cors;
        this.browsers = browsers;
        this.streams = streams;
        this.keepAlive = keepAlive;
        this.grpc = grpc;
        this.authenticator = authenticator;
        this.refusals = refusals;
    }

    /** Returns the dialect, which the server makes in the background when it has started. */
    private static GrpcDialect await(Future<GrpcDialect> grpc, Exchange exchange) {
        try {
            return grpc.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw exchange.broken("interrupted");
        } catch (ExecutionException e) {
            throw new IllegalStateException("gRPC", e.getCause());
        }
    }

    @Override
    public void accept(Exchange exchange) {
        if (grpc != null && GrpcCall.is(exchange)) {
            new GrpcCall(
                            await(grpc, exchange),
                            browsers,
                            authenticator,
                            streams,
                            exchange::draining,
                            refusals,
                            exchange)
                    .run();
            return;
        }
        if (cors.isPreflight(exchange)) {
            cors.answerPreflight(exchange);
            Answers.secure(exchange);
            exchange.status(204);
            exchange.send(Answers.NOTHING);
            return;
        }
        switch (answer(exchange)) {
            case WireAnswer.Whole whole -> {
                if (exchange.gone()) {
                    exchange.abandon();
                    return;
                }
                exchange.prepareEnd();
                Answers.send(exchange, whole, cors);
            }
            case WireAnswer.Events events -> {
                exchange.prepareEnd();
                stream(exchange, events);
            }
        }
    }

    private WireAnswer answer(Exchange exchange) {
        var method = exchange.method();
        Function<String, @Nullable String> headers = exchange::header;
        var head = new Routes.Head(method, "", Map.of(), exchange.arrival("", headers));
        var refused = routes.refusedMethod(head);
        if (refused != null) {
            return refused;
        }
        try {
            browsers.check(method, exchange);
            var path = RequestTarget.path(exchange.rawPath());
            var query = exchange.rawQuery();
            head = new Routes.Head(
                    method,
                    path,
                    query == null ? Map.of() : RequestTarget.query(query),
                    exchange.arrival(path, headers),
                    exchange::admitted);
            if (isCompressed(exchange)) {
                return routes.compressed(head);
            }
            if (streams.full() && accepts(headers.apply("Accept"))) {
                return tooManyStreams(head);
            }
            var answer = routes.answer(head, new RequestBody(exchange));
            if (answer instanceof WireAnswer.Events events && !streams.enter(exchange.group(), events.frames())) {
                events.frames().close();
                return tooManyStreams(head);
            }
            return answer;
        } catch (RuntimeException e) {
            Exchange.passOn(e);
            // A failure caused by the disconnect of the client is no fault, and needs no answer.
            exchange.requirePresent();
            return routes.problem(head, Dialects.explained(e));
        }
    }

    private static boolean isCompressed(Exchange exchange) {
        var encoding = exchange.header("Content-Encoding");
        return encoding != null && !encoding.equalsIgnoreCase("identity");
    }

    private static boolean accepts(@Nullable String accept) {
        return accept != null && accept.contains(EVENT_STREAM);
    }

    private WireAnswer tooManyStreams(Routes.Head head) {
        return routes.problem(head, A2AException.unavailable("Too many open streams", RETRY_STREAM));
    }

    private void stream(Exchange exchange, WireAnswer.Events answer) {
        var events = answer.frames();
        exchange.endShare();
        try {
            var headers = new LinkedHashMap<>(STREAM_HEADERS);
            headers.putAll(answer.headers());
            if (exchange.isHttp2()) {
                headers.remove("Connection"); // HTTP/2 forbids it
            }
            Answers.headers(exchange, headers, cors);
            if (exchange.method().equals("HEAD")) {
                exchange.send(Answers.NOTHING);
                return;
            }
            exchange.whenGone(events::close);
            exchange.watch();
            new EventSender(
                            exchange.whileAdmitted(events),
                            answer.failure(),
                            exchange::draining,
                            exchange.output(),
                            keepAlive)
                    .run();
            if (exchange.gone()) {
                exchange.abandon();
            } else {
                exchange.commit();
            }
        } finally {
            events.close();
            streams.leave(events);
        }
    }
}
