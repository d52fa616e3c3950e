package dev.parley.server;

import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.server.limits.BodyBudget;
import dev.parley.server.limits.CurrentAdmission;
import dev.parley.server.limits.Proxies;
import dev.parley.server.wire.EventSender;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** A request of a container on its way through the gate, and its answer. Belongs to one thread. */
final class MountedCall implements RefusableBody, AutoCloseable {
    /** Bytes of a refused request that are read at most. */
    private static final long MAX_REFUSED = 16 * 1024;

    private static final int STEP = 8 * 1024;

    private final HttpExchange exchange;
    private final long largest;
    private final BodyBudget.Taken taken;
    private final String client;
    private final CurrentAdmission admission = new CurrentAdmission();

    MountedCall(HttpExchange exchange, BodyBudget bodies, Proxies proxies) {
        this.exchange = exchange;
        this.client = proxies.client(exchange.clientAddress(), exchange.header(Proxies.FORWARDED_FOR));
        this.largest = bodies.largest();
        this.taken = bodies.new Taken();
    }

    void answer(Gate gate, Duration keepAlive, BooleanSupplier draining) throws IOException {
        var request = new Gate.Incoming(
                exchange.method(),
                exchange.rawPath().isEmpty() ? "/" : exchange.rawPath(),
                exchange.rawQuery(),
                exchange::header,
                path -> new RequestHead(
                        exchange.method(),
                        path,
                        exchange::header,
                        client,
                        exchange.certificate(),
                        false,
                        exchange.caller()),
                admission,
                this,
                MountedCall::requirePresent);
        switch (gate.answer(request)) {
            case WireAnswer.Whole whole -> {
                exchange.status(whole.status());
                headers(Map.of(), whole.headers());
                if (whole.status() != 204 && whole.status() != 304) {
                    exchange.set("Content-Length", String.valueOf(whole.body().length));
                    if (!exchange.method().equals("HEAD")) {
                        exchange.output().write(whole.body());
                    }
                }
            }
            case WireAnswer.Events events -> {
                try {
                    stream(events, keepAlive, draining);
                } finally {
                    events.frames().close();
                    gate.left(events);
                }
            }
        }
    }

    private void stream(WireAnswer.Events events, Duration keepAlive, BooleanSupplier draining) throws IOException {
        exchange.status(200);
        headers(AnswerWriter.STREAM_HEADERS, events.headers());
        if (exchange.method().equals("HEAD")) {
            return;
        }
        new EventSender(admission.whileValid(events.frames()), events.failure(), draining, exchange.output(), keepAlive)
                .run();
    }

    private void headers(Map<String, String> first, Map<String, String> more) {
        AnswerWriter.FOR_BROWSERS.forEach(field -> exchange.set(field.name(), field.value()));
        exchange.set("Cache-Control", "no-store");
        first.forEach(exchange::set);
        admission.headers().forEach(exchange::set);
        more.forEach((name, value) -> {
            if (!name.equalsIgnoreCase("Connection")) { // the container's own
                exchange.set(name, value);
            }
        });
        if (AnswerWriter.isCached("private", more)) {
            String vary = more.get("Vary");
            exchange.set("Vary", (vary == null ? "" : vary + ", ") + AnswerWriter.BY_CALLER.value());
        }
    }

    private static void requirePresent(RuntimeException failure) {
        if (failure instanceof UncheckedIOException) {
            throw failure;
        }
    }

    @Override
    public byte[] ofRefused() {
        try {
            return read(MAX_REFUSED);
        } catch (A2AException tooLarge) {
            return new byte[0];
        }
    }

    @Override
    public byte[] read(long most) {
        long limit = Math.min(most, largest);
        var body = new ByteArrayOutputStream();
        try {
            InputStream in = exchange.body();
            var step = new byte[STEP];
            for (int read = in.read(step); read >= 0; read = in.read(step)) {
                if (body.size() + read > limit) {
                    throw A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
                }
                taken.take(admission.group(), read);
                body.write(step, 0, read);
            }
            return body.toByteArray();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    /** Ends the call: gives back its memory, and its place among the calls of its caller. */
    @Override
    public void close() {
        taken.giveBack();
        admission.leave();
    }
}
