package dev.parley.dialect;

/**
 * The switches where the specification leaves room or deployed peers differ.
 *
 * @param strictVersionHeader refuse a 1.0 method that comes without {@code A2A-Version}; default false, because no older
 *     client can send such a name
 * @param statusesOf100 answer with the HTTP statuses of release 1.0.0 instead of 1.0.1, and with its media type
 *     {@code application/json} where the caller names none; default false
 * @param closeOnInputRequired end streams when a task waits for its caller; default false
 */
public record DialectSettings(boolean strictVersionHeader, boolean statusesOf100, boolean closeOnInputRequired) {
    public static final DialectSettings DEFAULTS = new DialectSettings(false, false, false);
}
