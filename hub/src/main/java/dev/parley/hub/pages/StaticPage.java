package dev.parley.hub.pages;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.extension.HubPage;
import dev.parley.extension.HubResource;
import dev.parley.server.RequestHandler;
import java.util.Map;

/** A static resource served at a fixed path. */
public record StaticPage(String contentType, byte[] body) implements RequestHandler {
    /** Path of the style of the consent page. */
    public static final String STYLE = "/ui/home.css";

    /** Short, for a key that is published anew has to be known before it is used. */
    private static final String CACHING = "public, max-age=300";

    /** Allows only scripts and styles of files beside a page, and only connections to this hub; other answers need neither. */
    static final String OWN_FILES = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    /** A page of an extension. */
    public static StaticPage of(HubPage page) {
        return new StaticPage(page.contentType(), page.body());
    }

    /** A resource of an extension. */
    public static RequestHandler of(HubResource resource) {
        return (request, body) -> resource.answer(
                request.method().equals("GET") ? request : request.with(body.read(HubResource.MAX_BODY_BYTES)));
    }

    /** A resource of this package. */
    public static StaticPage of(String contentType, String resource) {
        return of(HubPage.of(StaticPage.class, contentType, resource));
    }

    @Override
    public WireAnswer answer(WireRequest request, Body unread) {
        request.requirePage();
        return new WireAnswer.Whole(
                200,
                Map.of("Content-Type", contentType, "Cache-Control", CACHING, "Content-Security-Policy", OWN_FILES),
                body);
    }
}
