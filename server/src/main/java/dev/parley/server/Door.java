package dev.parley.server;

import dev.parley.dialect.grpc.GrpcDialect;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.server.helidon.Exchange;
import dev.parley.server.limits.OpenStreams;
import dev.parley.server.wire.Cors;
import dev.parley.server.wire.EventSender;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Answers each request: a preflight, a call of gRPC, or what {@link Gate} finds for its path. */
final class Door implements Consumer<Exchange> {

    private final Gate gate;
    private final Cors cors;
    private final BrowserRule browsers;
    private final OpenStreams streams;
    private final Duration keepAlive;
    private final @Nullable Future<GrpcDialect> grpc;
    private final Authenticator authenticator;
    private final IntConsumer refusals;

    Door(
            Gate gate,
            Cors cors,
            BrowserRule browsers,
            OpenStreams streams,
            Duration keepAlive,
            @Nullable Future<GrpcDialect> grpc,
            Authenticator authenticator,
            IntConsumer refusals) {
        this.gate = gate;
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
        if (cors.isPreflight(exchange) && !gate.isForAllOrigins(exchange.rawPath(), exchange::arrival)) {
            cors.answerPreflight(exchange);
            Answers.secure(exchange);
            exchange.status(204);
            exchange.send(Answers.NOTHING);
            return;
        }
        switch (gate.answer(incoming(exchange))) {
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

    private void stream(Exchange exchange, WireAnswer.Events answer) {
        var events = answer.frames();
        exchange.endShare();
        try {
            var headers = new LinkedHashMap<>(Answers.STREAM_HEADERS);
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
                            exchange.admission().whileValid(events),
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
            gate.left(answer);
        }
    }

    private static Gate.Incoming incoming(Exchange exchange) {
        return new Gate.Incoming(
                exchange.method(),
                exchange.rawPath(),
                exchange.rawQuery(),
                exchange::header,
                exchange::arrival,
                exchange.admission(),
                new RequestBody(exchange),
                failure -> {
                    Exchange.passOn(failure);
                    exchange.requirePresent();
                });
    }
}
