package dev.parley.server;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.server.helidon.Exchange;
import dev.parley.server.wire.Cors;
import dev.parley.server.wire.EventSender;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Answers each request: a preflight, a call of gRPC, or what {@link Gate} finds for its path. */
final class RequestEntry implements Consumer<Exchange> {

    private final Gate gate;
    private final Cors cors;
    private final Duration keepAlive;
    private final @Nullable Consumer<Exchange> grpc;

    /** @param grpc answers calls of gRPC; null if the server has none */
    RequestEntry(Gate gate, Cors cors, Duration keepAlive, @Nullable Consumer<Exchange> grpc) {
        this.gate = gate;
        this.cors = cors;
        this.keepAlive = keepAlive;
        this.grpc = grpc;
    }

    @Override
    public void accept(Exchange exchange) {
        if (grpc != null && GrpcCall.is(exchange)) {
            grpc.accept(exchange);
            return;
        }
        if (cors.isPreflight(exchange) && !gate.isForAllOrigins(exchange.rawPath(), exchange::arrival)) {
            cors.answerPreflight(exchange);
            AnswerWriter.secure(exchange);
            exchange.status(204);
            exchange.send(AnswerWriter.NOTHING);
            return;
        }
        switch (gate.answer(incoming(exchange))) {
            case WireAnswer.Whole whole -> {
                if (exchange.gone()) {
                    exchange.abandon();
                    return;
                }
                exchange.prepareEnd();
                AnswerWriter.send(exchange, whole, cors);
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
            var headers = new LinkedHashMap<>(AnswerWriter.STREAM_HEADERS);
            headers.putAll(answer.headers());
            if (exchange.isHttp2()) {
                headers.remove("Connection"); // HTTP/2 forbids it
            }
            AnswerWriter.headers(exchange, headers, cors);
            if (exchange.method().equals("HEAD")) {
                exchange.send(AnswerWriter.NOTHING);
                return;
            }
            exchange.whenGone(events::close);
            exchange.watch();
            new EventSender(
                            exchange.admission().whileValid(events),
                            answer.failure(),
                            () -> exchange.draining() || gate.isEnded(),
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
