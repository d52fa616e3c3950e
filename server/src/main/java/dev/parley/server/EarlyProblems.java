package dev.parley.server;

import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Answers what was no request, so that no dialect can be asked: as google.rpc.Status JSON, in fixed words, because what
 * Helidon says would repeat what the client sent.
 */
final class EarlyProblems implements DirectHandler {
    private final IntConsumer refusals;

    EarlyProblems(IntConsumer refusals) {
        this.refusals = refusals;
    }

    @Override
    public TransportResponse handle(
            TransportRequest request,
            EventType type,
            Status status,
            ServerResponseHeaders headers,
            @Nullable String message) {
        refusals.accept(status.code());
        Answers.FOR_BROWSERS.forEach(headers::set);
        return TransportResponse.builder()
                .status(status)
                .headers(headers)
                .header(HeaderValues.create(HeaderNames.CONTENT_TYPE, Answers.JSON))
                .entity(body(status))
                .keepAlive(false)
                .build();
    }

    private static byte[] body(Status status) {
        var name = status.code() < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE";
        return """
                {"error":{"code":%d,"status":"%s","message":"%s"}}""".formatted(status.code(), name, status.reasonPhrase()).getBytes(StandardCharsets.US_ASCII);
    }
}
