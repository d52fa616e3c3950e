package dev.parley.mcp.client;

import dev.parley.mcp.wire.McpMessage;
import dev.parley.mcp.wire.Revision;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Carries messages between a client and its server. Safe for any thread. */
public interface McpTransport extends AutoCloseable {
    /** Receives messages of the server that belong to no request of the client. */
    @FunctionalInterface
    interface Receiver {
        void receive(Map<String, @Nullable Object> message);
    }

    /** Begins. Called once. */
    void open(Receiver receiver);

    /** Sets the revision of the following messages. */
    void revision(Revision revision);

    /**
     * Sends a request, and puts the messages of the server that belong to it into the exchange. Failures are put there, too. Returns
     * before the answer.
     *
     * @param headers of HTTP
     */
    void begin(ClientExchange exchange, McpMessage.Request request, Map<String, String> headers);

    /**
     * Sends a notification, or the answer to a request of the server.
     *
     * @throws ServerFailure if it cannot be sent
     */
    void send(McpMessage message) throws InterruptedException;

    /** Begins to receive messages of a legacy server that belong to no request. */
    void follow();

    /** Whether requests are canceled by a notification, in a revision. */
    boolean cancelsByNotification(Revision revision);

    /** Whether tools with invalid header annotations have to be left out. */
    boolean hasHeaders();

    @Override
    void close();
}
