package dev.parley.knowledge.spi;

/** A store of statements could not do its work. */
public final class KnowledgeStoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private enum Kind {
        FAILED,
        TIMEOUT,
        BUSY
    }

    private final Kind kind;

    private KnowledgeStoreException(String message, Throwable cause, Kind kind) {
        super(message, cause);
        this.kind = kind;
    }

    public KnowledgeStoreException(String message, Throwable cause, boolean timeout) {
        this(message, cause, timeout ? Kind.TIMEOUT : Kind.FAILED);
    }

    /** The group has so many questions under way that this one was not begun. */
    public static KnowledgeStoreException busy(Throwable cause) {
        return new KnowledgeStoreException("too many questions of the group are under way", cause, Kind.BUSY);
    }

    /** True if the question took longer than its reader's patience. */
    public boolean isTimeout() {
        return kind == Kind.TIMEOUT;
    }

    /** True if the question was not begun, and may be asked again later. */
    public boolean isBusy() {
        return kind == Kind.BUSY;
    }
}
