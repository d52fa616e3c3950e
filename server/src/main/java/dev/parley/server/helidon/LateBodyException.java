package dev.parley.server.helidon;

import io.helidon.webserver.CloseConnectionException;

/** Thrown if a body does not come in time. The connection is open, for an answer. */
public final class LateBodyException extends CloseConnectionException {
    private static final long serialVersionUID = 1;

    LateBodyException() {
        super("the body did not come in time");
    }
}
