package dev.parley.store.audit;

import org.jspecify.annotations.Nullable;

/**
 * Result of verifying the whole chain.
 *
 * @param rows that were read
 * @param end hash of the last row: to be stored elsewhere if writers of this directory are not trusted
 * @param broken the first row that was changed, with the reason; null if there is none
 */
public record Verification(long rows, String end, @Nullable String broken) {}
