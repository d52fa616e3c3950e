package dev.parley.server.wire;

import dev.parley.dialect.Dialects;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes one stream of server-sent events until it ends. Source: WHATWG HTML, section 9.2. */
public final class EventSender {
    private static final byte[] COMMENT = ": keep-alive\n\n".getBytes(StandardCharsets.US_ASCII);
    // A write that takes too long is cut, so one write must not be too much for a slow reader.
    private static final int MOST_AT_ONCE = 64 * 1024;

    private final Feed<byte[]> frames;
    private final Function<A2AException, byte[]> failure;
    private final BooleanSupplier draining;
    private final OutputStream out;
    private final Duration keepAlive;
    private long lastWrite;

    public EventSender(
            Feed<byte[]> frames,
            Function<A2AException, byte[]> failure,
            BooleanSupplier draining,
            OutputStream out,
            Duration keepAlive) {
        this.draining = draining;
        this.frames = frames;
        this.failure = failure;
        this.out = out;
        this.keepAlive = keepAlive;
        this.lastWrite = System.nanoTime() - keepAlive.toNanos();
    }

    /**
     * Sends all events until the end of the stream.
     *
     * @throws RuntimeException if the client cannot be written to
     */
    public void run() {
        try {
            sendEvents();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (A2AException e) {
            write(failure.apply(e));
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // fairness, not correctness, depends on it
    private void sendEvents() throws InterruptedException {
        // The first look does not wait, so that a subscriber to a quiet task sees at once that the stream is open.
        for (var batch = next(Duration.ZERO); batch != null; batch = next(keepAlive)) {
            send(batch);
            // Virtual threads are not preempted: a stream that always has more would keep its processor to itself.
            Thread.yield();
            if (System.nanoTime() - lastWrite >= keepAlive.toNanos()) {
                write(COMMENT);
            }
        }
        if (draining.getAsBoolean()) {
            // A stream that was cut short shall not look as if it had come to its end.
            throw A2AException.unavailable("The server is stopping", Duration.ofSeconds(1));
        }
    }

    private @Nullable List<byte[]> next(Duration patience) throws InterruptedException {
        try {
            return frames.next(patience);
        } catch (RuntimeException e) {
            throw Dialects.explained(e);
        }
    }

    private static byte[] frame(List<byte[]> batch, int index) {
        try {
            return batch.get(index);
        } catch (RuntimeException e) {
            throw Dialects.explained(e);
        }
    }

    /** Events that come together leave together: one write, not one each. */
    private void send(List<byte[]> batch) {
        if (batch.isEmpty()) {
            return;
        }
        byte[] first = frame(batch, 0);
        if (batch.size() == 1) {
            write(first);
            return;
        }
        var together = new Together((int) Math.min(MOST_AT_ONCE, (long) batch.size() * first.length) + first.length);
        together.writeBytes(first);
        for (var i = 1; i < batch.size(); i++) {
            if (together.size() >= MOST_AT_ONCE) {
                write(together.bytes(), together.size());
                together.reset();
            }
            together.writeBytes(frame(batch, i));
        }
        write(together.bytes(), together.size());
    }

    /** Gives its bytes away without a copy. */
    private static final class Together extends ByteArrayOutputStream {
        Together(int size) {
            super(size);
        }

        byte[] bytes() {
            return buf;
        }
    }

    private void write(byte[] bytes) {
        write(bytes, bytes.length);
    }

    private void write(byte[] bytes, int length) {
        try {
            for (var from = 0; from < length; from += MOST_AT_ONCE) {
                out.write(bytes, from, Math.min(MOST_AT_ONCE, length - from));
                out.flush();
                lastWrite = System.nanoTime();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
