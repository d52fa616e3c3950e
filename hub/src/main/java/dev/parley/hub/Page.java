package dev.parley.hub;

import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.server.RequestHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;

/** A static resource served at a fixed path. */
record Page(String contentType, byte[] body) implements RequestHandler {
    /** Short, for a key that is published anew has to be known before it is used. */
    private static final String CACHING = "public, max-age=300";

    /** Allows only scripts and styles of files beside a page, and only connections to this hub; other answers need neither. */
    static final String OWN_FILES = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    /** A resource of this package. */
    static Page of(String contentType, String resource) {
        return new Page(contentType, resource(resource));
    }

    @Override
    public WireAnswer answer(WireRequest request, Body unread) {
        if (!request.path().isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        if (!request.method().equals("GET")) {
            throw A2AException.notAllowed(request.method(), "GET, HEAD");
        }
        return new WireAnswer.Whole(
                200,
                Map.of("Content-Type", contentType, "Cache-Control", CACHING, "Content-Security-Policy", OWN_FILES),
                body);
    }

    private static byte[] resource(String name) {
        try (InputStream in = Page.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + name);
            }
            return in.readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
