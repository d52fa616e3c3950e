package dev.parley.server;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.server.helidon.Exchange;
import dev.parley.server.helidon.Field;
import dev.parley.server.wire.Cors;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Puts answers into exchanges. */
final class AnswerWriter {
    static final String JSON = "application/json";

    /** Security headers of all answers; answers that are pages have a Content-Security-Policy of their own. */
    static final List<Field> FOR_BROWSERS = List.of(
            Field.of("X-Content-Type-Options", "nosniff"),
            Field.of("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
            Field.of("Referrer-Policy", "no-referrer"));

    static final Map<String, String> STREAM_HEADERS = Map.of(
            "Content-Type", "text/event-stream", "Cache-Control", "no-store, no-transform", "X-Accel-Buffering", "no");

    private static final Field OVER_TLS_ONLY = Field.of("Strict-Transport-Security", "max-age=31536000");
    /** Headers that tell the caller: an answer for one caller is not for another, also in the cache of one browser. */
    static final Field BY_CALLER = Field.of("Vary", "Authorization, X-Api-Key, Cookie, Parley-Session-Proof");

    private static final Field NO_STORE = Field.of("Cache-Control", "no-store");

    static final byte[] NOTHING = new byte[0];

    private AnswerWriter() {}

    /** Sends an answer, without its body if the request was for its headers only. */
    static void send(Exchange exchange, WireAnswer.Whole answer, Cors cors) {
        headers(exchange, answer.headers(), cors);
        var status = answer.status();
        if (status != 200) {
            exchange.status(status);
        }
        if (status == 204 || status == 304) {
            exchange.send(NOTHING);
        } else if (exchange.method().equals("HEAD")) {
            exchange.set("Content-Length", String.valueOf(answer.body().length));
            exchange.send(NOTHING);
        } else {
            exchange.send(answer.body());
        }
    }

    static void headers(Exchange exchange, Map<String, String> headers, Cors cors) {
        secure(exchange);
        exchange.set(NO_STORE);
        exchange.admission().headers().forEach(exchange::set);
        headers.forEach(exchange::set);
        if (isCached("private", headers)) {
            exchange.add(BY_CALLER);
        }
        if (!Cors.isForAllOrigins(headers)) {
            cors.decorate(
                    exchange,
                    Stream.concat(exchange.admission().headers().keySet().stream(), headers.keySet().stream()));
        }
    }

    /** @param caches {@code private} or {@code public}: whose caches may keep an answer */
    static boolean isCached(String caches, Map<String, String> headers) {
        return headers.getOrDefault("Cache-Control", "").startsWith(caches);
    }

    static void secure(Exchange exchange) {
        for (var each : FOR_BROWSERS) {
            exchange.set(each);
        }
        if (exchange.isSecure()) {
            exchange.set(OVER_TLS_ONLY);
        }
    }
}
