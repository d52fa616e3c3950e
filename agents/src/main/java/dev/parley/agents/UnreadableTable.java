package dev.parley.agents;

/** Input that is no table, or too large a one. The message says where and why, for the person who sent it. */
final class UnreadableTable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnreadableTable(String message) {
        super(message);
    }
}
