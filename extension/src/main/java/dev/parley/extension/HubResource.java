package dev.parley.extension;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;

/** Answers requests at a path of a hub and below, which call no agent. Safe for any thread; may block. */
@FunctionalInterface
public interface HubResource {
    /** Longest body of a request; the one of a GET is not read. */
    int MAX_BODY_BYTES = 64 * 1024;

    /**
     * Answers a request. Callers are not authenticated.
     *
     * @param request with a path relative to that of the resource
     * @throws dev.parley.protocol.A2AException error that the client receives
     */
    WireAnswer answer(WireRequest request);
}
