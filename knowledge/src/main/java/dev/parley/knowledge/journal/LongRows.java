package dev.parley.knowledge.journal;

/** Limits of reads of rows that may be long. */
final class LongRows {
    /** Limit of rows read at once, in characters. */
    static final long MAX_CHARACTERS = 4L << 20;

    /** Fetch size for PostgreSQL, in rows. */
    static final int FETCHED = 32;

    private LongRows() {}
}
