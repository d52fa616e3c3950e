package dev.parley.dialect;

/**
 * The switches where the specification leaves room or deployed peers differ.
 *
 * @param strictVersionHeader refuse a 1.0 method that comes without {@code A2A-Version}; default false, because no older
 *     client can send such a name
 * @param statusesOf100 answer with the HTTP statuses of release 1.0.0 instead of 1.0.1, and with its media type
 *     {@code application/json} where the caller names none; default false
 * @param closeOnInputRequired end streams of 1.0 when a task waits for its caller, as those of older versions always do;
 *     default false
 * @param lenientMethods answer a method of an older version in that version even if the request asks for 1.0, instead of
 *     with METHOD_NOT_FOUND; default false
 * @param strictKnowledgeStatuses answer errors of {@code knowledge/query} and {@code knowledge/update} with the HTTP
 *     status that they have by the knowledge graph extension, instead of 200, under which alone its published clients
 *     find the error; default false
 */
public record DialectSettings(
        boolean strictVersionHeader,
        boolean statusesOf100,
        boolean closeOnInputRequired,
        boolean lenientMethods,
        boolean strictKnowledgeStatuses) {
    public static final DialectSettings DEFAULTS = new DialectSettings(false, false, false, false, false);

    /** These with the statuses of the knowledge graph extension as its clients can read them. */
    public DialectSettings(
            boolean strictVersionHeader, boolean statusesOf100, boolean closeOnInputRequired, boolean lenientMethods) {
        this(strictVersionHeader, statusesOf100, closeOnInputRequired, lenientMethods, false);
    }
}
