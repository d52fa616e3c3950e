package dev.parley.knowledge.spi;

/** A store of statements could not do its work. */
public final class KnowledgeStoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean timeout;

    public KnowledgeStoreException(String message, Throwable cause, boolean timeout) {
        super(message, cause);
        this.timeout = timeout;
    }

    /** True if the question took longer than its reader's patience. */
    public boolean isTimeout() {
        return timeout;
    }
}
