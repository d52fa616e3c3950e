package dev.parley.server.helidon;

import static dev.parley.server.helidon.ExchangeState.NEVER;

import dev.parley.server.limits.FairScheduler;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.webserver.CloseConnectionException;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a client, as they arrive.
 *
 * <p>While an HTTP/1.1 request is answered, no thread reads, and a disconnect would go unnoticed. {@link #watch()} reads ahead
 * in another thread meanwhile; the next {@link #get()} returns its bytes. With HTTP/2 Helidon reads all the time, but does not
 * report the reset of a stream; {@link ClientFrames} detects it. {@link HeaderBlocks} rewrites header blocks that Helidon cannot read.
 */
final class Inbound implements Supplier<byte[]> {
    private static final byte[] NOTHING = {};

    private final HelidonSocket socket;
    private final ClientConnection connection;
    private final HeaderBlocks blocks = new HeaderBlocks();
    private @Nullable ClientFrames frames;
    private byte[] alreadyRead = NOTHING;
    private boolean first = true;
    private FairScheduler.@Nullable Early share;

    // By when the thread that reads must be back, on the clock of Connections; while it is here, never.
    private volatile long returnDeadline = NEVER;

    // Deadline of a request of HTTP/1.1, by System.nanoTime(); only for the thread that handles it.
    private boolean hurried;
    private long hurriedUntil;

    // Guarded by this: at most one thread reads from the socket.
    private boolean reading;
    private @Nullable ReadAhead ahead;

    Inbound(HelidonSocket socket, ClientConnection connection) {
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
        var bytes = first || connection.isIdle() ? nextRequest() : next();
        first = false;
        connection.received(bytes.length);
        return bytes;
    }

    /**
     * Waits for the first bytes of a request, and for a share of the processors. The share comes first if the bytes are there:
     * a group with many connections then has few of them read at a time. Otherwise nothing is held while the client thinks.
     */
    private byte[] nextRequest() {
        var share = connection.awaitShare();
        if (share == null) {
            return next();
        }
        try {
            if (!hasBytes()) {
                share.end().run();
                var bytes = next();
                share = connection.awaitShare();
                return bytes;
            }
            return next();
        } catch (RuntimeException e) {
            if (share != null) {
                share.end().run();
            }
            throw e;
        } finally {
            connection.keep(share);
        }
    }

    private boolean hasBytes() {
        try {
            return connection.channel().socket().getInputStream().available() > 0;
        } catch (IOException e) {
            return false; // reading throws
        }
    }

    private byte[] http2(ClientFrames frames) {
        returnDeadline = NEVER;
        endShare();
        if (connection.gone()) { // found by a thread that writes; what has come before is not worth answering
            throw departed("the client is gone", null);
        }
        // Otherwise the heads of a flood become threads faster than these run, and all others wait for them.
        connection.awaitDecided();
        var bytes = nextOf(frames);
        while (bytes.length == 0) {
            var more = alreadyRead.length > 0 ? alreadyRead : next();
            alreadyRead = NOTHING;
            frames.add(blocks.in(more));
            bytes = nextOf(frames);
        }
        connection.requireNoFlood();
        // Parsing the heads of a flood costs as much as answering them, so it waits for the flood's share, too.
        share = connection.awaitShareOfFlood();
        // Helidon has the thread wait while a stream does not take its data, and then no frame is read.
        returnDeadline = connection.all().now() + connection.all().patience().body();
        return bytes;
    }

    /** Requests of an unknown caller come a few at a time, so that a flood is noticed before all have threads. */
    private byte[] nextOf(ClientFrames frames) {
        return frames.next(connection.isOfUnknownCaller() ? ClientConnection.SPARED : Integer.MAX_VALUE);
    }

    private void endShare() {
        var before = share;
        share = null;
        if (before != null) {
            before.end().run();
        }
    }

    /** Deadline of the thread that reads HTTP/2 for its next read. For any thread. */
    long returnDeadline() {
        return returnDeadline;
    }

    /** Reads ahead in another thread, to learn when the client leaves, unless something reads already. For any thread. */
    synchronized void watch() {
        if (ahead == null && !reading && frames == null) {
            ahead = new ReadAhead(this::read, this::isTooMuch);
            Thread.ofVirtual().start(ahead);
        }
    }

    /** While a request is answered that has come in whole, a client that sends on and on could leave unnoticed. */
    private boolean isTooMuch(int bytes) {
        if (bytes <= ReadAhead.MOST) {
            return false;
        }
        if (connection.isBeingAnswered()) {
            connection.cut();
        }
        return true;
    }

    /** Switches to HTTP/2, beginning with its preface and the bytes read so far. */
    synchronized void readHttp2(Http2Streams streams, byte[] alreadyRead) {
        frames = new ClientFrames(streams);
        this.alreadyRead = alreadyRead;
    }

    private byte[] next() {
        if (hurried) {
            return soon();
        }
        var before = claim();
        try {
            var bytes = before == null ? null : before.take();
            if (bytes == null) {
                endReadAhead();
                return read();
            }
            return bytes;
        } finally {
            release();
        }
    }

    /**
     * Lets the thread that handles a request of HTTP/1.1 wait for bytes no longer than so many nanoseconds from now;
     * {@link LateBodyException} ends the wait.
     */
    void hurry(long nanos) {
        hurried = true;
        hurriedUntil = System.nanoTime() + nanos;
    }

    void endHurry() {
        hurried = false;
    }

    /** Waits as long as it may for what another thread reads: an interrupt of this one while it reads would close the socket. */
    private byte[] soon() {
        while (true) {
            watch();
            var before = claim();
            try {
                var bytes = before == null ? null : before.takeWithin(hurriedUntil - System.nanoTime());
                if (bytes != null) {
                    return bytes;
                }
                endReadAhead();
            } finally {
                release();
            }
        }
    }

    private synchronized @Nullable ReadAhead claim() {
        reading = true;
        return ahead;
    }

    private synchronized void endReadAhead() {
        ahead = null;
    }

    private synchronized void release() {
        reading = false;
    }

    private byte[] read() {
        byte @Nullable [] bytes;
        try {
            bytes = socket.get();
        } catch (RuntimeException e) {
            throw departed("reading failed", e);
        }
        if (bytes == null) {
            throw departed("the client is gone", null);
        }
        return bytes;
    }

    private CloseConnectionException departed(String reason, @Nullable RuntimeException cause) {
        connection.disconnected();
        return cause == null ? new CloseConnectionException(reason) : new CloseConnectionException(reason, cause);
    }
}
