package dev.parley.engine.spi;

/**
 * Reason for which a log refuses to begin a task, or to add a message to one: the id of the message, or the name of the task, leads to
 * another task. The message is to be looked up, or admitted, again.
 */
public final class KeyTakenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean isPending;

    /**
     * @param key in words
     * @param isPending whether nothing of the other task is in the log yet
     */
    public KeyTakenException(String key, boolean isPending) {
        super(key + (isPending ? ": another engine works at it" : ": leads to another task"));
        this.isPending = isPending;
    }

    /** True if nothing of the other task is in the log yet, so that it is not found at once. */
    public boolean isPending() {
        return isPending;
    }
}
