package dev.parley.server.helidon;

import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Answers to malformed requests, which have no dialect: google.rpc.Status as JSON with fixed texts, because Helidon's messages
 * repeat input of the client.
 */
final class EarlyProblems implements DirectHandler {
    /** Helidon's message for a header list over its limit; Helidon has no error code for it. */
    private static final String MANY_HEADERS = "Header size exceeded";

    private final int maxHeaderBytes;
    private final IntConsumer refusals;
    private final List<Field> standing;

    EarlyProblems(int maxHeaderBytes, IntConsumer refusals, List<Field> standing) {
        this.maxHeaderBytes = maxHeaderBytes;
        this.refusals = refusals;
        this.standing = standing;
    }

    @Override
    public TransportResponse handle(
            TransportRequest request,
            EventType type,
            Status found,
            ServerResponseHeaders headers,
            @Nullable String message) {
        boolean many = MANY_HEADERS.equals(message);
        var status = many ? Status.create(431, "Request Header Fields Too Large") : found;
        var words = many
                ? status.reasonPhrase() + " (expected: at most " + maxHeaderBytes + " bytes)"
                : status.reasonPhrase();
        refusals.accept(status.code());
        standing.forEach(field -> headers.set(field.header()));
        return TransportResponse.builder()
                .status(status)
                .headers(headers)
                .header(HeaderValues.create(HeaderNames.CONTENT_TYPE, "application/json"))
                .entity(body(status, words))
                .keepAlive(false)
                .build();
    }

    private static byte[] body(Status status, String words) {
        var name = status.code() < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE";
        return """
                {"error":{"code":%d,"status":"%s","message":"%s"}}""".formatted(status.code(), name, words).getBytes(StandardCharsets.US_ASCII);
    }
}
