package dev.parley.server;

import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.WireRequest;

/** Answers the requests below one path that is no agent's. Called on a virtual thread per request; may block. */
@FunctionalInterface
public interface RequestHandler {
    /**
     * Answers a request whose {@link WireRequest#path()} is relative to the path that the handler was registered for.
     *
     * @throws dev.parley.protocol.A2AException to be told to the caller; any other exception is logged, and the caller
     *     hears of an internal error
     */
    WireAnswer answer(WireRequest request);
}
