package dev.parley.mcp;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A durable task of the extension {@code io.modelcontextprotocol/tasks}. Source: SEP-2663.
 *
 * @param createdAt a time as texts write it, as {@code lastUpdatedAt}
 * @param ttlMs null for no limit
 * @param error of a failed task
 * @param inputRequests of a task that waits for input
 */
public record McpTask(
        String taskId,
        Status status,
        @Nullable String statusMessage,
        @Nullable String createdAt,
        @Nullable String lastUpdatedAt,
        @Nullable Long pollIntervalMs,
        @Nullable Long ttlMs,
        @Nullable CallResult result,
        @Nullable McpException error,
        Map<String, InputRequest> inputRequests) {
    /** Status of a task. */
    public enum Status {
        WORKING,
        INPUT_REQUIRED,
        COMPLETED,
        CANCELLED,
        FAILED,
        /** A word of another program that MCP does not have, or none. */
        UNKNOWN;

        /** The word of MCP. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The status of a word, which another program may have written. */
        public static Status of(String word) {
            return Stream.of(values())
                    .filter(status -> status.word().equals(word))
                    .findFirst()
                    .orElse(UNKNOWN);
        }
    }
}
