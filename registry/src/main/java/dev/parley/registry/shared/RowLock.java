package dev.parley.registry.shared;

import dev.parley.protocol.retry.Backoff;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseRead;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.OutageException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Lock of a row that is held until a transaction ends, so that transactions of all hubs of a database take turns. A hub that shares its
 * database waits for the lock on its writer's thread for a moment only: another one that pauses in its transaction, and holds the lock until
 * it is ended, does not stop the writes of other parts of this hub. Safe for any thread.
 */
public final class RowLock {
    /** Longest wait of the writer: more than a group of another hub takes. */
    private static final Duration MOMENT = Duration.ofMillis(100);

    /** After a wait in vain the writer takes the lock only if it is free, for so long. */
    private static final Duration REST = Duration.ofMillis(500);

    /** Longest wait of a caller, as for other writes. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(10), Duration.ofMillis(250));

    /** State of a statement that has waited for a lock for too long. */
    private static final String LOCKED = "55P03";

    private final boolean isShared;
    private final String lock;

    /** When the writer may wait again, as of {@link System#nanoTime}; for its thread only. */
    private long waitsFrom = System.nanoTime();

    /** @param row a query of one number of one row */
    public RowLock(Database database, String row) {
        this.isShared = database.access().epochs().isShared();
        this.lock = row + (database.kind() == DatabaseKind.POSTGRESQL ? " FOR UPDATE" : "");
    }

    /** Takes the lock in a transaction, before its first read, which then returns what all hubs have committed; waits for it. */
    public void take(DatabaseSession session) throws SQLException {
        session.number(lock);
    }

    /**
     * Runs a transaction under the lock, once it is free.
     *
     * @param transaction writes a work
     * @param change the work under the lock
     * @return what the work has returned
     * @throws OutageException if another hub holds the lock for ten seconds
     */
    public <T> Optional<T> within(
            Function<DatabaseRead<Optional<T>>, Optional<T>> transaction, DatabaseRead<Optional<T>> change) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        for (int attempt = 1; ; attempt++) {
            var isTaken = new boolean[1];
            Optional<T> result = transaction.apply(session -> {
                isTaken[0] = isTaken(session);
                return isTaken[0] ? change.ask(session) : Optional.empty();
            });
            if (isTaken[0]) {
                return result;
            }
            if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
                throw new OutageException(
                        "another hub has changed the registry for some seconds and has not ended; try again");
            }
            LockSupport.parkNanos(PAUSES.bound(attempt).toNanos());
        }
    }

    private boolean isTaken(DatabaseSession session) throws SQLException {
        if (!isShared) {
            take(session);
            return true;
        }
        if (session.first(row -> row.getLong(1), lock + " SKIP LOCKED").isPresent()) {
            return true;
        }
        return System.nanoTime() - waitsFrom >= 0 && waitsAMoment(session);
    }

    /** Waits in the queue for the lock, for hubs that write all the time leave it free for no one else. */
    private boolean waitsAMoment(DatabaseSession session) throws SQLException {
        String before = session.first(row -> DatabaseSession.text(row, 1), "SELECT current_setting('lock_timeout')")
                .orElseThrow();
        session.once("SAVEPOINT registry_lock");
        try {
            limit(session, MOMENT.toMillis() + "ms");
            take(session);
        } catch (SQLException failure) {
            if (!LOCKED.equals(failure.getSQLState())) {
                throw failure;
            }
            session.once("ROLLBACK TO SAVEPOINT registry_lock"); // and so is the limit
            waitsFrom = System.nanoTime() + REST.toNanos();
            return false;
        }
        limit(session, before);
        session.once("RELEASE SAVEPOINT registry_lock");
        return true;
    }

    private static void limit(DatabaseSession session, String time) throws SQLException {
        var unused =
                session.first(row -> DatabaseSession.text(row, 1), "SELECT set_config('lock_timeout', ?, true)", time);
    }
}
