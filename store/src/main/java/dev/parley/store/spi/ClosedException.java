package dev.parley.store.spi;

import java.lang.System.Logger.Level;

/** The database was closed by this program, so that nothing is read or written any more. */
public final class ClosedException extends OutageException {
    private static final long serialVersionUID = 1L;

    public ClosedException() {
        super("the database is closed");
    }

    /** Returns the level of the report of a failure beside callers: a failure by the close is no fault that an operator has to know. */
    public static Level level(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ClosedException) {
                return Level.DEBUG;
            }
        }
        return Level.WARNING;
    }
}
