package dev.parley.store.audit;

import org.jspecify.annotations.Nullable;

/**
 * Result of verifying the whole chain, or all of several hubs.
 *
 * @param rows that were read
 * @param end hash of the last row, or of the last rows of all chains: to be stored elsewhere if writers of this directory are not trusted
 * @param broken the first row that was changed, with the reason; null if there is none
 */
public record Verification(long rows, String end, @Nullable String broken) {}
