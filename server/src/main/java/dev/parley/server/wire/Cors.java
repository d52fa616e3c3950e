package dev.parley.server.wire;

import dev.parley.server.helidon.Exchange;
import dev.parley.server.helidon.Field;
import java.util.List;
import java.util.Set;

/** Admission of pages of other origins by the settings. Source: WHATWG Fetch, section 3.2. */
public final class Cors {
    private static final String ANY = "*";
    private static final Field VARY = Field.of("Vary", "Origin");
    private static final Field CREDENTIALS = Field.of("Access-Control-Allow-Credentials", "true");
    private static final Field METHODS =
            Field.of("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
    private static final Field REQUEST_HEADERS = Field.of(
            "Access-Control-Allow-Headers",
            "A2A-Extensions, A2A-Version, Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, traceparent");
    private static final Field RESPONSE_HEADERS =
            Field.of("Access-Control-Expose-Headers", "A2A-Extensions, A2A-Version, ETag, Retry-After");
    private static final Field MAX_AGE = Field.of("Access-Control-Max-Age", "600");
    private static final Field SAME_ORIGIN = Field.of("Cross-Origin-Resource-Policy", "same-origin");
    private static final String ALLOW_ORIGIN = "Access-Control-Allow-Origin";

    private final Set<String> origins;
    private final boolean any;

    public Cors(List<String> origins) {
        this.origins = Set.copyOf(origins);
        this.any = origins.contains(ANY);
    }

    /** True for a preflight request. */
    public boolean isPreflight(Exchange exchange) {
        return !origins.isEmpty()
                && exchange.method().equals("OPTIONS")
                && exchange.header("Origin") != null
                && exchange.header("Access-Control-Request-Method") != null;
    }

    public void answerPreflight(Exchange exchange) {
        if (allow(exchange)) {
            exchange.set(METHODS);
            exchange.set(REQUEST_HEADERS);
            exchange.set(MAX_AGE);
        }
    }

    /** True for an allowed origin. */
    public boolean allows(String origin) {
        return any || origins.contains(origin);
    }

    /** Adds the fields that let a page read an answer, or pages of other origins embed it. */
    public void decorate(Exchange exchange) {
        if (origins.isEmpty()) {
            exchange.set(SAME_ORIGIN);
        } else if (allow(exchange)) {
            exchange.set(RESPONSE_HEADERS);
        }
    }

    private boolean allow(Exchange exchange) {
        if (any) {
            exchange.set(ALLOW_ORIGIN, ANY);
            return true;
        }
        // Also without an allowed origin: what a cache keeps for one origin must not be shown to another.
        exchange.add(VARY);
        var origin = exchange.header("Origin");
        if (origin == null || !origins.contains(origin)) {
            return false;
        }
        exchange.set(ALLOW_ORIGIN, origin);
        exchange.set(CREDENTIALS);
        return true;
    }
}
