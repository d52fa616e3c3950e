package dev.parley.client.spi;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request over HTTP that is not an operation of A2A.
 *
 * @param url absolute
 * @param headers besides those of the client
 */
public record HttpCall(String method, String url, Map<String, String> headers, byte[] body) {
    /**
     * The answer, with any status that is not a redirect.
     *
     * @param retryAfter from the header, at most an hour; null if it has none
     * @param etag entity tag of the body; null if it has none
     */
    public record Answer(
            int status,
            @Nullable Duration retryAfter,
            @Nullable String etag,
            byte[] body) {}
}
