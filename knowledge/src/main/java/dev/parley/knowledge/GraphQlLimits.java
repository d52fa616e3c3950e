package dev.parley.knowledge;

import java.time.Duration;

/**
 * How much one query may ask for.
 *
 * @param characters of the query
 * @param tokens of the query
 * @param fields with fragments written out
 * @param depth fields within fields
 * @param complexity objects that the answer may hold, as the pages that are asked for say; an alias is another field
 * @param objects objects that the answer does hold
 * @param length characters that are read for the answer, and characters of it
 * @param pathNodes things that are looked at in search of a path
 * @param time from the start of the query
 */
record GraphQlLimits(
        int characters,
        int tokens,
        int fields,
        int depth,
        int complexity,
        int objects,
        int length,
        int pathNodes,
        Duration time) {
    static final GraphQlLimits DEFAULTS =
            new GraphQlLimits(100_000, 10_000, 1_000, 12, 5_000, 100_000, 8 << 20, 10_000, Duration.ofSeconds(10));

    /** Elements of a page if the query does not say how many. */
    static final int DEFAULT_PAGE = 100;

    /** Elements that a page may have. */
    static final int MAX_PAGE = 1_000;
}
