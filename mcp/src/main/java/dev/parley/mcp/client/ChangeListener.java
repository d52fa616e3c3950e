package dev.parley.mcp.client;

import dev.parley.mcp.McpException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Listens to changes of the tools of a server that reports them on request, until it is closed. */
final class ChangeListener {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp.client");
    private static final Duration LISTEN = Duration.ofHours(24);
    private static final Map<String, @Nullable Object> WANTED = Map.of("toolsListChanged", true);

    private final Supplier<McpConnection> connections;
    private volatile @Nullable Thread thread;
    private volatile boolean closed;

    /** @param connections returns the present connection */
    ChangeListener(Supplier<McpConnection> connections) {
        this.connections = connections;
    }

    /** Begins, unless it has. */
    void begin() {
        if (thread == null) {
            thread = Thread.ofVirtual().name("mcp-listen").start(this::listen);
        }
    }

    private void listen() {
        var pauses = new Pauses();
        try {
            while (!closed && connections.get().isStateless()) {
                try {
                    listen(connections.get(), pauses);
                } catch (ServerFailure | McpException broken) {
                    LOG.log(Level.DEBUG, "the server does not report changes", broken);
                    if (broken instanceof McpException
                            || broken instanceof ServerFailure failure && UnusableAnswer.isFinal(failure)) {
                        break; // it has no such method, though it says that it reports changes
                    }
                }
                pauses.await(null);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
        thread = null; // the list is read again when its time is over
    }

    private void listen(McpConnection held, Pauses pauses) throws InterruptedException {
        var exchange = held.exchange();
        try {
            held.begin(exchange, "subscriptions/listen", Map.of("notifications", WANTED), Map.of());
            while (!closed) {
                Map<String, @Nullable Object> message = exchange.next(LISTEN);
                if (Incoming.isAnswer(message)) {
                    Map<String, @Nullable Object> unused = McpConnection.result(message);
                    return;
                }
                if (McpConnection.isChange(message)) {
                    pauses.progress();
                }
                held.receive(message);
            }
        } finally {
            exchange.close();
        }
    }

    void close() {
        closed = true;
        Thread listener = thread;
        if (listener != null) {
            listener.interrupt();
        }
    }
}
