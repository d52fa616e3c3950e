package dev.parley.outbound.http;

import java.io.IOException;

/** A server sent bytes before the request, which could be taken for the answer to it. Nothing of the request was sent. */
public final class UnreadBytes extends IOException {
    private static final long serialVersionUID = 1L;

    public UnreadBytes() {
        super("the server sent bytes before the request");
    }
}
