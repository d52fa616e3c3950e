package dev.parley.mcp.server;

import dev.parley.mcp.wire.McpMessage;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something that a server sends for a request over HTTP.
 *
 * @param status of HTTP, if it is all that is sent
 * @param headers of HTTP, if it is all that is sent
 * @param message null for an empty body
 * @param isLast whether the answer is complete with it
 */
public record HttpReply(
        int status, Map<String, String> headers, @Nullable McpMessage message, boolean isLast) {
    /** A message on the way to the answer. */
    static HttpReply of(McpMessage message) {
        return new HttpReply(200, Map.of(), message, false);
    }

    static HttpReply last(int status, McpMessage message) {
        return new HttpReply(status, Map.of(), message, true);
    }
}
