package dev.parley.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A durable task of the extension {@code io.modelcontextprotocol/tasks}. Source: SEP-2663.
 *
 * @param status {@code working}, {@code input_required}, {@code completed}, {@code cancelled} or {@code failed}
 * @param createdAt a time as texts write it, as {@code lastUpdatedAt}
 * @param ttlMs null for no limit
 * @param error of a failed task
 * @param inputRequests of a task that waits for input
 */
public record McpTask(
        String taskId,
        String status,
        @Nullable String statusMessage,
        @Nullable String createdAt,
        @Nullable String lastUpdatedAt,
        @Nullable Long pollIntervalMs,
        @Nullable Long ttlMs,
        @Nullable CallResult result,
        @Nullable McpException error,
        Map<String, InputRequest> inputRequests) {}
