package dev.parley.server;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.WritableHeaders;
import java.util.List;
import java.util.Set;

/** Lets pages of other origins call, if the settings say so. Source: WHATWG Fetch, section 3.2. */
final class Cors {
    private static final String ANY = "*";
    private static final Header VARY = HeaderValues.createCached(HeaderNames.VARY, "Origin");
    private static final Header CREDENTIALS =
            HeaderValues.createCached(HeaderNames.ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    private static final Header METHODS =
            HeaderValues.createCached(HeaderNames.ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, PATCH, DELETE");
    private static final Header REQUEST_HEADERS = HeaderValues.createCached(
            HeaderNames.ACCESS_CONTROL_ALLOW_HEADERS,
            "A2A-Extensions, A2A-Version, Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, traceparent");
    private static final Header RESPONSE_HEADERS = HeaderValues.createCached(
            HeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS, "A2A-Extensions, A2A-Version, ETag, Retry-After");
    private static final Header MAX_AGE = HeaderValues.createCached(HeaderNames.ACCESS_CONTROL_MAX_AGE, "600");
    private static final Header OURS_ALONE =
            HeaderValues.createCached(HeaderNames.create("Cross-Origin-Resource-Policy"), "same-origin");
    private static final HeaderName ORIGIN = HeaderNames.ORIGIN;

    private final Set<String> origins;
    private final boolean any;

    Cors(List<String> origins) {
        this.origins = Set.copyOf(origins);
        this.any = origins.contains(ANY);
    }

    /** True if a browser asks whether its page may call. */
    boolean isPreflight(String method, Headers request) {
        return !origins.isEmpty()
                && method.equals("OPTIONS")
                && request.contains(ORIGIN)
                && request.contains(HeaderNames.ACCESS_CONTROL_REQUEST_METHOD);
    }

    void answerPreflight(Headers request, WritableHeaders<?> response) {
        if (allow(request, response)) {
            response.set(METHODS);
            response.set(REQUEST_HEADERS);
            response.set(MAX_AGE);
        }
    }

    /** True if pages of that origin may call. */
    boolean allows(String origin) {
        return any || origins.contains(origin);
    }

    /** Adds to an answer what lets the page see it, and others embed it. */
    void decorate(Headers request, WritableHeaders<?> response) {
        if (origins.isEmpty()) {
            response.set(OURS_ALONE);
        } else if (allow(request, response)) {
            response.set(RESPONSE_HEADERS);
        }
    }

    private boolean allow(Headers request, WritableHeaders<?> response) {
        if (any) {
            response.set(HeaderValues.create(HeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, ANY));
            return true;
        }
        // Also without an allowed origin: what a cache keeps for one origin must not be shown to another.
        response.add(VARY);
        if (!request.contains(ORIGIN)) {
            return false;
        }
        var origin = request.get(ORIGIN).get();
        if (!origins.contains(origin)) {
            return false;
        }
        response.set(HeaderValues.create(HeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, origin));
        response.set(CREDENTIALS);
        return true;
    }
}
