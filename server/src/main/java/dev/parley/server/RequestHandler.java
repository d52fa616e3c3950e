package dev.parley.server;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;

/** Answers the requests below one path that is not an agent's. Called on a virtual thread per request; may block. */
@FunctionalInterface
public interface RequestHandler {
    /** The body of a request, which may still be with the client. */
    @FunctionalInterface
    interface Body {
        /**
         * Waits for the whole of it.
         *
         * @param most bytes that it may have, which are no more than those of the server's own limit
         * @throws dev.parley.protocol.A2AException if it has more
         */
        byte[] read(long most);

        /** Waits for the whole of it, up to the limit of the server. */
        default byte[] read() {
            return read(Long.MAX_VALUE);
        }
    }

    /**
     * Answers a request; its {@link WireRequest#path()} is relative to the path of the handler.
     *
     * @param unread the request without its body
     * @param body is read once at most, after authentication, since it takes memory
     * @throws dev.parley.protocol.A2AException error that the caller receives; any other exception is logged, and the caller
     *     receives an internal error
     */
    WireAnswer answer(WireRequest unread, Body body);
}
