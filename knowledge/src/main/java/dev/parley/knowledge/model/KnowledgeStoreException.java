package dev.parley.knowledge.model;

import dev.parley.protocol.support.TemporaryFailure;

/** A store of statements could not do its work. */
public final class KnowledgeStoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private enum Kind {
        FAILED,
        TIMEOUT,
        BUSY,
        UNAVAILABLE
    }

    private final Kind kind;

    /** Says that the same call may succeed later, wherever the exception is not told as an error of its own. */
    private static final class Later extends RuntimeException implements TemporaryFailure {
        private static final long serialVersionUID = 1L;

        Later(Throwable cause) {
            super(cause.getMessage(), cause, false, false);
        }
    }

    private KnowledgeStoreException(String message, Throwable cause, Kind kind) {
        super(message, kind == Kind.FAILED ? cause : new Later(cause));
        this.kind = kind;
    }

    public KnowledgeStoreException(String message, Throwable cause, boolean timeout) {
        this(message, cause, timeout ? Kind.TIMEOUT : Kind.FAILED);
    }

    /** The group has reached its limit of running queries; this one was not started. */
    public static KnowledgeStoreException busy(Throwable cause) {
        return new KnowledgeStoreException("too many questions of the group are under way", cause, Kind.BUSY);
    }

    /** The store cannot be reached, or does not work at the moment. */
    public static KnowledgeStoreException unavailable(String message, Throwable cause) {
        return new KnowledgeStoreException(message, cause, Kind.UNAVAILABLE);
    }

    /** True if the question took longer than its reader's patience. */
    public boolean isTimeout() {
        return kind == Kind.TIMEOUT;
    }

    /** True if the question was not begun, and may be asked again later. */
    public boolean isBusy() {
        return kind == Kind.BUSY;
    }

    /** True if the store cannot be reached, or does not work at the moment. */
    public boolean isUnavailable() {
        return kind == Kind.UNAVAILABLE;
    }
}
