package dev.parley.store.database;

import dev.parley.protocol.support.Backoff;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The database cannot be written.
 *
 * @param failures in a row
 * @param retryAt of {@link System#nanoTime}
 */
record Outage(Exception cause, int failures, long retryAt) {
    /** Primary result codes of SQLite: no space in the file, and no space (or another fault) in the index of the log. */
    private static final int SQLITE_FULL = 13;

    private static final int SQLITE_IOERR = 10;

    /** Primary result code of SQLite: another connection holds the lock. */
    private static final int SQLITE_BUSY = 5;

    /** Pauses between attempts to write while the database fails. */
    static final Backoff PAUSES = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1));

    static Outage after(int failures, Exception cause) {
        return new Outage(
                cause, failures, System.nanoTime() + PAUSES.bound(failures).toNanos());
    }

    long nanosToRetry() {
        return retryAt - System.nanoTime();
    }

    /** The problem in words: that of its first cause. */
    static String message(Throwable problem) {
        Throwable root = problem;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.toString() : root.getMessage();
    }

    /** True if PostgreSQL refused a value or a row, and not the transaction. */
    static boolean isOfData(Throwable problem) {
        return problem instanceof SQLException failure
                && failure.getSQLState() != null
                && (failure.getSQLState().startsWith("22")
                        || failure.getSQLState().startsWith("23"));
    }

    /** True if a cause of the problem is a failure of the database. */
    static boolean isOfDatabase(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException) {
                return true;
            }
        }
        return false;
    }

    /** True if SQLite found the disk full. */
    static boolean isFull(Throwable problem) {
        return hasCode(problem, SQLITE_FULL);
    }

    /** True if SQLite may lack space: an attempt that writes a page would succeed where works do not. */
    static boolean mayLackSpace(Throwable problem) {
        return isFull(problem) || hasCode(problem, SQLITE_IOERR);
    }

    /** True if another connection of SQLite held the lock for too long. */
    static boolean isBusy(Throwable problem) {
        return hasCode(problem, SQLITE_BUSY);
    }

    private static boolean hasCode(Throwable problem, int code) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException failure && failure.getErrorCode() == code) {
                return true;
            }
        }
        return false;
    }
}
