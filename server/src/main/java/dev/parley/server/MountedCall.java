package dev.parley.server;

import dev.parley.dialect.Admission;
import dev.parley.dialect.Arrival;
import dev.parley.dialect.WireAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import dev.parley.server.limits.AdmittedFeed;
import dev.parley.server.limits.BodyBudget;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A request of a container on its way through the gate, and its answer. Belongs to one thread. */
final class MountedCall implements Gate.Incoming, RefusableBody, AutoCloseable {
    /** Bytes of a refused request that are read at most. */
    private static final long MAX_REFUSED = 16 * 1024;

    private static final int STEP = 8 * 1024;

    private final HttpExchange exchange;
    private final BodyBudget bodies;
    private @Nullable Admission admission;
    private String takenBy = "";
    private long taken;

    MountedCall(HttpExchange exchange, BodyBudget bodies) {
        this.exchange = exchange;
        this.bodies = bodies;
    }

    void answer(Gate gate, Duration keepAlive, BooleanSupplier draining) throws IOException {
        switch (gate.answer(this)) {
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
        headers(Answers.STREAM_HEADERS, events.headers());
        if (exchange.method().equals("HEAD")) {
            return;
        }
        Feed<byte[]> frames =
                admission == null ? events.frames() : new AdmittedFeed<>(events.frames(), admission.stands());
        new EventSender(frames, events.failure(), draining, exchange.output(), keepAlive).run();
    }

    private void headers(Map<String, String> first, Map<String, String> more) {
        Answers.FOR_BROWSERS.forEach(field -> exchange.set(field.name(), field.value()));
        exchange.set("Cache-Control", "no-store");
        first.forEach(exchange::set);
        if (admission != null) {
            admission.headers().forEach(exchange::set);
        }
        more.forEach((name, value) -> {
            if (!name.equalsIgnoreCase("Connection")) { // the container's own
                exchange.set(name, value);
            }
        });
    }

    @Override
    public String method() {
        return exchange.method();
    }

    @Override
    public String rawPath() {
        return exchange.rawPath().isEmpty() ? "/" : exchange.rawPath();
    }

    @Override
    public @Nullable String rawQuery() {
        return exchange.rawQuery();
    }

    @Override
    public @Nullable String header(String name) {
        return exchange.header(name);
    }

    @Override
    public Arrival arrival(String path, Function<String, @Nullable String> headers) {
        return new Arrival(exchange.method(), path, headers, exchange.clientAddress(), exchange.certificate());
    }

    @Override
    public void admitted(Admission next) {
        if (admission != null) {
            admission.leave().run();
        }
        admission = next;
    }

    @Override
    public String group() {
        return admission == null ? "" : admission.caller().scope().group();
    }

    @Override
    public RefusableBody body() {
        return this;
    }

    @Override
    public void requirePresent(RuntimeException failure) {
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
        long largest = Math.min(most, bodies.largest());
        var body = new ByteArrayOutputStream();
        try {
            InputStream in = exchange.body();
            var step = new byte[STEP];
            for (int read = in.read(step); read >= 0; read = in.read(step)) {
                if (body.size() + read > largest) {
                    throw A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
                }
                take(read);
                body.write(step, 0, read);
            }
            return body.toByteArray();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    private void take(int bytes) {
        if (taken == 0) {
            takenBy = group();
        }
        if (!bodies.take(takenBy, bytes)) {
            throw A2AException.unavailable("Too many large requests", Duration.ofSeconds(1));
        }
        taken += bytes;
    }

    /** Ends the call: gives back its memory, and its place among the calls of its caller. */
    @Override
    public void close() {
        bodies.giveBack(takenBy, taken);
        if (admission != null) {
            admission.leave().run();
        }
    }
}
