package dev.parley.store.connection;

import dev.parley.protocol.retry.Backoff;
import dev.parley.protocol.support.Excerpt;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * The database cannot be written.
 *
 * @param failures in a row
 * @param retryAt of {@link System#nanoTime}
 */
public record Outage(Exception cause, int failures, long retryAt) {
    /** Primary result codes of SQLite: no space in the file, and no space (or another fault) in the index of the log. */
    private static final int SQLITE_FULL = 13;

    private static final int SQLITE_IOERR = 10;

    /** Primary result code of SQLite: another connection holds the lock. */
    private static final int SQLITE_BUSY = 5;

    /** Primary result codes of SQLite for values, and for locks: BUSY, LOCKED, INTERRUPT, TOOBIG, CONSTRAINT, MISMATCH, RANGE. */
    private static final Set<Integer> OF_VALUES = Set.of(5, 6, 9, 18, 19, 20, 25);

    private static final List<String> OF_OPERATOR =
            List.of("[SQLITE_CONSTRAINT_CHECK]", "[SQLITE_CONSTRAINT_NOTNULL]", "[SQLITE_CONSTRAINT_TRIGGER]");

    /** Values, constraints, transactions that met others, limits of the program, and statements that were canceled. */
    private static final List<String> STATES_OF_VALUES = List.of("22", "23", "40", "54", "57014");

    /** Null in a column, and a check, which also stands for a missing partition. */
    private static final Set<String> STATES_OF_OPERATOR = Set.of("23502", "23514");

    private static final int MAX_WORDS = 300;

    /** Pauses between attempts to write while the database fails. */
    public static final Backoff PAUSES = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1));

    public static Outage after(int failures, Exception cause) {
        return new Outage(
                cause, failures, System.nanoTime() + PAUSES.bound(failures).toNanos());
    }

    public long nanosToRetry() {
        return retryAt - System.nanoTime();
    }

    /** The problem in words: that of its first cause. */
    public static String message(Throwable problem) {
        Throwable root = problem;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.toString() : root.getMessage();
    }

    /** The first line of the problem, at most 300 characters, for callers: databases add values of rows in further lines. */
    public static String words(Throwable problem) {
        return Excerpt.of(message(problem).lines().findFirst().orElse("").strip(), MAX_WORDS);
    }

    /**
     * True if the database refuses such a write for a reason that is not one of its values: a table is missing or was changed, a privilege was
     * taken, a trigger or a constraint of the operator refuses (the tables of Parley have none), or its disk is full.
     */
    public static boolean isStanding(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException failure) {
                return failure.getErrorCode() != 0
                        ? !OF_VALUES.contains(failure.getErrorCode() & 0xFF) || isOfOperator(message(failure))
                        : failure.getSQLState() != null && isStanding(failure.getSQLState());
            }
        }
        return false;
    }

    /** The driver of SQLite tells the kind of a constraint in its message only. */
    private static boolean isOfOperator(String message) {
        return OF_OPERATOR.stream().anyMatch(message::startsWith);
    }

    private static boolean isStanding(String state) {
        return STATES_OF_OPERATOR.contains(state)
                || !state.startsWith("08") && STATES_OF_VALUES.stream().noneMatch(state::startsWith);
    }

    /** True if PostgreSQL refused a value or a row, and not the transaction. */
    public static boolean isOfData(Throwable problem) {
        return problem instanceof SQLException failure
                && failure.getSQLState() != null
                && (failure.getSQLState().startsWith("22")
                        || failure.getSQLState().startsWith("23"));
    }

    /** True if a cause of the problem is a failure of the database. */
    public static boolean isOfDatabase(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException) {
                return true;
            }
        }
        return false;
    }

    /** True if SQLite found the disk full. */
    public static boolean isFull(Throwable problem) {
        return hasCode(problem, SQLITE_FULL);
    }

    /** True if SQLite may lack space: an attempt that writes a page would succeed where works do not. */
    public static boolean mayLackSpace(Throwable problem) {
        return isFull(problem) || hasCode(problem, SQLITE_IOERR);
    }

    /** True if another connection of SQLite held the lock for too long. */
    public static boolean isBusy(Throwable problem) {
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
