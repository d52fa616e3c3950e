package dev.parley.server.helidon;

import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs the protocol of one connection, in the thread that reads it. */
final class Session implements ServerConnection {
    private static final long LINGER = TimeUnit.SECONDS.toNanos(2);

    /** Bytes of a refused request that are dropped in one turn, of which there is one each millisecond: a tenth of a processor for all connections. */
    private static final int LINGER_AT_ONCE = 64 * 1024;

    private final ClientConnection connection;
    private final GuardedContext context;
    private final Protocols protocols;
    private @Nullable ServerConnection protocol;
    private boolean complete;

    Session(ClientConnection connection, GuardedContext context, Protocols protocols) {
        this.connection = connection;
        this.context = context;
        this.protocols = protocols;
    }

    @Override
    public void handle(Limit limit) throws InterruptedException {
        connection.readByCurrentThread();
        try {
            protocol = protocols.choose(context);
            protocol.handle(limit);
            linger();
        } catch (IndexOutOfBoundsException | IllegalArgumentException unreadable) {
            // Helidon failed to parse frames or headers of the client, outside of any stream.
            throw new CloseConnectionException("not HTTP", unreadable);
        } finally {
            connection.endShare();
            connection.disconnected();
            connection.all().closed(connection);
        }
    }

    /** {@link Connections} does what Helidon's idle timer does, and more. */
    @Override
    public Duration idleTime() {
        return Duration.ZERO;
    }

    /** Helidon stops. {@link Connections#drain} decides when that is due for a connection. */
    @Override
    public void close(boolean interrupt) {}

    /**
     * Lets the present exchange of HTTP/1.1 be the last.
     *
     * @param complete whether its request has been read to the end
     */
    void closeAfterExchange(boolean complete) {
        this.complete = complete;
        if (protocol != null) {
            protocol.close(false);
        }
    }

    /**
     * Reads on for a moment after an answer that was given before its request had come in whole. To close right away
     * would reset the connection, and the client, still sending, might never see the answer.
     */
    private void linger() {
        if (complete || connection.gone() || connection.isHttp2()) {
            return;
        }
        connection.expectWithin(LINGER);
        try {
            if (!context.isSecure()) {
                connection.channel().shutdownOutput();
            }
            // Bounded by time only: after a number of bytes a client with a bigger body would miss its answer. Without
            // turns, clients that send as fast as this reads would keep the carriers: a thread that yields is run again
            // before those that wake for bytes of others.
            int left = LINGER_AT_ONCE;
            for (byte[] bytes = context.serverSocket().get();
                    bytes != null;
                    bytes = context.serverSocket().get()) {
                left -= bytes.length;
                if (left <= 0) {
                    connection.all().lingering().awaitTurn();
                    left = LINGER_AT_ONCE;
                }
            }
        } catch (IOException | RuntimeException e) {
            // The client did not wait for it, or was cut: over either way.
            return;
        }
    }
}
