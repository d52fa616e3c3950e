package dev.parley.knowledge.model;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A query or subscription and its outcome.
 *
 * @param number position in the log
 * @param operation {@code knowledge/query} or {@code knowledge/subscribe}
 * @param outcome {@code ok}, or the name of an error
 * @param detail {@code query}: the beginning of its text; {@code taskId} and {@code sessionId}, as its caller named them
 */
public record LoggedQuery(
        long number,
        Instant at,
        String caller,
        String operation,
        String outcome,
        Map<String, @Nullable Object> detail) {}
