package dev.parley.knowledge.graphql;

import dev.parley.knowledge.store.StatementStore;
import java.time.Duration;

/**
 * Limits of one GraphQL query.
 *
 * @param characters of the query
 * @param tokens of the query
 * @param fields with fragments written out
 * @param depth fields within fields
 * @param complexity objects that the answer may hold by the requested page sizes; each alias counts as a field
 * @param objects objects that the answer actually holds
 * @param length characters that are read for the answer, and characters of it
 * @param pathNodes entities visited in the search for a path
 * @param time from the start of the query
 */
public record GraphQlLimits(
        int characters,
        int tokens,
        int fields,
        int depth,
        int complexity,
        int objects,
        int length,
        int pathNodes,
        Duration time) {
    public static final GraphQlLimits DEFAULTS =
            new GraphQlLimits(100_000, 10_000, 1_000, 12, 5_000, 100_000, 8 << 20, 10_000, StatementStore.PATIENCE);

    /** Default size of a page, in elements. */
    static final int DEFAULT_PAGE = 100;

    /** Largest size of a page, in elements. */
    static final int MAX_PAGE = 1_000;
}
