package dev.parley.agents;

/** Input that is not a table, or a table over a limit. The message has the place and the reason, for the sender. */
final class UnreadableTable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnreadableTable(String message) {
        super(message);
    }
}
