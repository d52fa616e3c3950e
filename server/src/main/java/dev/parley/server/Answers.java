package dev.parley.server;

import dev.parley.dialect.WireAnswer;
import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Puts answers into responses, and takes headers out of requests. */
final class Answers {
    static final String JSON = "application/json";

    /** Security headers of all answers; answers that are pages have a Content-Security-Policy of their own. */
    static final List<Header> FOR_BROWSERS = List.of(
            HeaderValues.createCached(HeaderNames.X_CONTENT_TYPE_OPTIONS, "nosniff"),
            HeaderValues.createCached(
                    HeaderNames.create("Content-Security-Policy"), "default-src 'none'; frame-ancestors 'none'"),
            HeaderValues.createCached(HeaderNames.create("Referrer-Policy"), "no-referrer"));

    private static final Header OVER_TLS_ONLY =
            HeaderValues.createCached(HeaderNames.create("Strict-Transport-Security"), "max-age=31536000");
    private static final Header NO_STORE = HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "no-store");

    static final byte[] NOTHING = new byte[0];
    private static final int MAX_NAMES = 256;
    private static final Map<String, HeaderName> NAMES = new ConcurrentHashMap<>();

    private Answers() {}

    /** Returns a view of headers as {@link dev.parley.dialect.WireRequest} wants it. */
    static Function<String, @Nullable String> lookup(Headers headers) {
        return name -> {
            var key = name(name);
            if (!headers.contains(key)) {
                return null;
            }
            var header = headers.get(key);
            return header.valueCount() == 1 ? header.get() : header.values();
        };
    }

    /** Sends an answer, without its body if the request was for its headers only. */
    static void send(Exchange exchange, WireAnswer.Whole answer, Cors cors) {
        var response = exchange.response();
        headers(exchange, answer.headers(), cors);
        var status = answer.status();
        if (status != 200) {
            response.status(Status.create(status));
        }
        if (status == 204 || status == 304) {
            exchange.send(NOTHING);
        } else if (exchange.request().prologue().method().text().equals("HEAD")) {
            response.headers().set(HeaderValues.create(HeaderNames.CONTENT_LENGTH, answer.body().length));
            exchange.send(NOTHING);
        } else {
            exchange.send(answer.body());
        }
    }

    static void headers(Exchange exchange, Map<String, String> headers, Cors cors) {
        ServerResponseHeaders target = exchange.response().headers();
        secure(exchange);
        target.set(NO_STORE);
        exchange.standingHeaders().forEach((name, value) -> target.set(HeaderValues.create(name(name), value)));
        headers.forEach((name, value) -> target.set(HeaderValues.create(name(name), value)));
        cors.decorate(exchange.request().headers(), target);
    }

    static void secure(Exchange exchange) {
        var headers = exchange.response().headers();
        for (var each : FOR_BROWSERS) {
            headers.set(each);
        }
        if (exchange.request().isSecure()) {
            headers.set(OVER_TLS_ONLY);
        }
    }

    /** Header names are asked for in a few spellings, by code and not by clients. */
    private static HeaderName name(String name) {
        var known = NAMES.get(name);
        if (known != null) {
            return known;
        }
        var made = HeaderNames.create(name);
        if (NAMES.size() < MAX_NAMES) {
            NAMES.put(name, made);
        }
        return made;
    }
}
