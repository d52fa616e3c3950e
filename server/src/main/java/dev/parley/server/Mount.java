package dev.parley.server;

import java.io.IOException;

/**
 * A site without a port, with requests from a container, such as a servlet container. The container is responsible for
 * TLS, limits of connections and of waiting, and headers for pages of other origins; gRPC is not served.
 */
public interface Mount extends Site {
    /**
     * Answers a request; blocks until the answer has been written, that of a stream included.
     *
     * @throws IOException if the answer could not be written, for instance because the client has gone
     */
    void handle(HttpExchange exchange) throws IOException;
}
