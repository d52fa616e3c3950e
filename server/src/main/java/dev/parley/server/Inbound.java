package dev.parley.server;

import io.helidon.common.socket.HelidonSocket;
import io.helidon.webserver.CloseConnectionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that a client sends, as they come.
 *
 * <p>While HTTP/1.1 streams an answer nobody reads, and a client that leaves would not be noticed before the second
 * write after that. {@link #watch()} reads ahead for that time in a thread of its own; what it gets is the next {@link
 * #get()}. HTTP/2 reads all the time, but keeps it to itself when a client resets one stream: {@link ClientFrames} tells.
 * {@link HeaderBlocks} makes readable what Helidon's HTTP/2 would not read.
 */
final class Inbound implements Supplier<byte[]> {
    private static final byte[] NOTHING = {};

    private final HelidonSocket socket;
    private final Connection connection;
    private @Nullable FutureTask<byte[]> ahead;
    private @Nullable ClientFrames frames;
    private final HeaderBlocks blocks = new HeaderBlocks();
    private byte[] alreadyRead = NOTHING;

    Inbound(HelidonSocket socket, Connection connection) {
        this.socket = socket;
        this.connection = connection;
    }

    /**
     * Waits for bytes.
     *
     * @throws CloseConnectionException if there will be none
     */
    @Override
    public byte[] get() {
        if (frames != null) {
            return http2(frames);
        }
        var bytes = ahead == null ? read() : fromAhead(ahead);
        connection.received(bytes.length);
        return bytes;
    }

    private byte[] http2(ClientFrames frames) {
        var bytes = frames.next();
        while (bytes.length == 0) {
            var more = alreadyRead.length > 0 ? alreadyRead : read();
            alreadyRead = NOTHING;
            frames.add(blocks.in(more));
            bytes = frames.next();
        }
        return bytes;
    }

    /** Reads ahead in another thread, until {@link #get()} asks for it, to learn when the client leaves. */
    void watch() {
        if (ahead == null && frames == null) {
            ahead = new FutureTask<>(this::read);
            Thread.ofVirtual().start(ahead);
        }
    }

    /** From here on it is HTTP/2, beginning with its preface, and with what has been read of it. */
    void readHttp2(Http2Streams streams, byte[] alreadyRead) {
        frames = new ClientFrames(streams);
        this.alreadyRead = alreadyRead;
    }

    private byte[] fromAhead(FutureTask<byte[]> task) {
        ahead = null;
        try {
            return task.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CloseConnectionException("interrupted", e);
        } catch (ExecutionException e) {
            throw new CloseConnectionException("the client is gone", e);
        }
    }

    private byte[] read() {
        byte @Nullable [] bytes;
        try {
            bytes = socket.get();
        } catch (RuntimeException e) {
            connection.disconnected();
            throw new CloseConnectionException("reading failed", e);
        }
        if (bytes == null) {
            connection.disconnected();
            throw new CloseConnectionException("the client is gone");
        }
        return bytes;
    }
}
