package dev.parley.store.spi;

import dev.parley.protocol.support.TemporaryFailure;
import java.sql.SQLException;
import java.util.Set;

/** The database could not be opened, read or written; the message names the attempt and a remedy. */
public class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL, CANTOPEN, PROTOCOL of SQLite. */
    private static final Set<Integer> TEMPORARY = Set.of(5, 6, 7, 8, 9, 10, 13, 14, 15);

    /** Connections, transactions that met others, resources, shutdown and the system, as SQL and PostgreSQL class them. */
    private static final Set<String> TEMPORARY_CLASSES = Set.of("08", "40", "53", "57", "58");

    public StoreException(String message) {
        super(message);
    }

    public StoreException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Returns the failure of a read or a write; a {@link TemporaryFailure} if the cause is expected to pass by itself. */
    public static StoreException of(String message, Throwable cause) {
        return isTemporary(cause) ? new OutageException(message, cause) : new StoreException(message, cause);
    }

    /** True if the cause is expected to pass by itself. */
    public static boolean isTemporary(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof TemporaryFailure || cause instanceof SQLException sql && isTemporary(sql)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isTemporary(SQLException failure) {
        int code = failure.getErrorCode() & 0xFF; // the rest of it is SQLite's extended code
        if (code != 0) {
            return TEMPORARY.contains(code);
        }
        String state = failure.getSQLState(); // PostgreSQL has no codes
        return state != null && state.length() == 5 && TEMPORARY_CLASSES.contains(state.substring(0, 2));
    }
}
