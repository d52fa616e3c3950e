package dev.parley.knowledge.model;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A call of the graph and its outcome.
 *
 * @param number position in the log
 * @param operation {@code knowledge/query}, {@code knowledge/update}, …
 * @param outcome {@code ok}, the verification status of an update, or the name of an error
 */
public record AuditEntry(
        long number,
        Instant at,
        String caller,
        String operation,
        String outcome,
        Map<String, @Nullable Object> detail) {}
