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
public record Reply(
        int status, Map<String, String> headers, @Nullable McpMessage message, boolean isLast) {
    /** A message on the way to the answer. */
    static Reply of(McpMessage message) {
        return new Reply(200, Map.of(), message, false);
    }

    static Reply last(int status, McpMessage message) {
        return new Reply(status, Map.of(), message, true);
    }
}
