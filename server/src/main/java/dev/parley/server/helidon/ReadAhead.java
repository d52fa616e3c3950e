package dev.parley.server.helidon;

import io.helidon.webserver.CloseConnectionException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads an HTTP/1.1 connection while its own thread runs a handler, until that thread requests bytes, too many have arrived,
 * or the client has left.
 */
final class ReadAhead implements Runnable {
    /** Bytes that are read ahead at most, besides those of one read. */
    static final int MOST = 64 * 1024;

    private static final byte[] ENDED = {};

    private final Supplier<byte[]> socket;
    private final IntPredicate tooMuch;
    // Bounded by what tooMuch says.
    private final BlockingQueue<byte[]> chunks = new LinkedBlockingQueue<>();
    private volatile boolean wanted;
    private volatile @Nullable RuntimeException failure;

    /**
     * Creates a reader that has not started.
     *
     * @param socket waits for bytes
     * @param tooMuch returns true if this number of unrequested bytes is too large to continue
     */
    ReadAhead(Supplier<byte[]> socket, IntPredicate tooMuch) {
        this.socket = socket;
        this.tooMuch = tooMuch;
    }

    @Override
    public void run() {
        try {
            int size = 0;
            do {
                var chunk = socket.get();
                chunks.add(chunk);
                size += chunk.length;
            } while (!wanted && !tooMuch.test(size));
        } catch (RuntimeException e) {
            failure = e;
        }
        chunks.add(ENDED);
    }

    /**
     * Waits for bytes, after those of the call before.
     *
     * @return null if there are none left here, and the caller may read for itself
     * @throws CloseConnectionException if the client has left, or the thread is interrupted
     */
    byte @Nullable [] take() {
        return takeWithin(Long.MAX_VALUE);
    }

    /**
     * Waits like {@link #take}, but not longer than so many nanoseconds.
     *
     * @throws LateBodyException if no bytes have come by then
     */
    byte @Nullable [] takeWithin(long nanos) {
        wanted = true;
        byte[] chunk;
        try {
            chunk = chunks.poll(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CloseConnectionException("interrupted", e);
        }
        if (chunk == null) {
            throw new LateBodyException();
        }
        if (chunk.length > 0) {
            return chunk;
        }
        if (failure != null) {
            throw new CloseConnectionException("the client is gone", failure);
        }
        return null;
    }
}
