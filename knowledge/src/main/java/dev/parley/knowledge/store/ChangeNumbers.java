package dev.parley.knowledge.store;

import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.protocol.retry.Backoff;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Numbers of changes. The row of a space has the number of its newest change; a transaction that writes to the space locks the row until it
 * ends, so that the changes of a space are numbered in the order of their commits, whichever hub writes them. For the writer thread.
 *
 * <p>The writer of a hub that shares its database waits for a moment only for rows that another hub has locked: that hub may stand still.
 * A change that would have to wait longer is undone, and made again later.
 */
final class ChangeNumbers {
    /** Number of the newest change of a space, as the open transaction leaves it. */
    static final class Counter {
        private final long before;
        private long newest;

        private Counter(long before) {
            this.before = before;
            this.newest = before;
        }

        long newest() {
            return newest;
        }

        long next() {
            return ++newest;
        }

        /** Takes numbers back with the changes that had them, or goes on after changes that were numbered elsewhere. */
        void reset(long number) {
            newest = number;
        }
    }

    /** Another hub has locked rows that a change needs. Nothing of the change is done. */
    static final class Contended extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Contended() {
            super("another hub writes to the graph", null, false, false);
        }
    }

    /** Sets a savepoint, from which on no statement waits for long. */
    private static final String BEGIN = "SAVEPOINT knowledge; SET LOCAL lock_timeout = 250";

    private static final String UNDO = "ROLLBACK TO SAVEPOINT knowledge";
    private static final String END = "RELEASE SAVEPOINT knowledge";
    private static final String UNLIMITED = "SET LOCAL lock_timeout = DEFAULT";

    /** State of a lock that was not available in time, as PostgreSQL has it. */
    private static final String UNAVAILABLE = "55P03";

    /** The row that a transaction locks which adds a space, or erases terms. */
    private static final String CREATING = "SELECT 1 FROM kg_setting WHERE space = 0 AND name = 'instance'";

    /** For so long the writer does not try again after a wait in vain, so that others' works go on. */
    private static final Duration REST = Duration.ofMillis(500);

    /** Pauses of a caller whose change was undone. */
    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(20), Duration.ofMillis(500));

    private final Sql sql;
    private final Terms terms;
    private final boolean isShared;
    private final Map<Long, Counter> locked = new HashMap<>();

    /** Spaces for which the writer has waited in vain, and when it tries them again, as of {@link System#nanoTime}. */
    private final Map<Long, Long> contended = new HashMap<>();

    /** @param isShared whether other hubs write to the same database */
    ChangeNumbers(Sql sql, Terms terms, boolean isShared) {
        this.sql = sql;
        this.terms = terms;
        this.isShared = isShared;
    }

    /** Whether the current change has locked its space. */
    private boolean takes;

    // ---- Of a change

    /**
     * Begins a change, which {@link #undo} undoes alone, and locks its space.
     *
     * @throws Contended if another hub has it locked
     */
    Counter begin(DatabaseSession session, long space) throws SQLException {
        takes = !locked.containsKey(space);
        if (!isShared) {
            Counter counter = lock(session, space);
            session.update("SAVEPOINT knowledge");
            return counter;
        }
        Long rest = contended.get(space);
        if (rest != null && System.nanoTime() - rest < 0) {
            throw new Contended();
        }
        session.update(BEGIN);
        try {
            return lock(session, space);
        } catch (SQLException failure) {
            Contended met = contention(space, failure);
            if (met == null) {
                throw failure;
            }
            session.update(UNDO);
            end(session);
            throw met;
        }
    }

    /** Undoes a change that has begun. */
    void undo(DatabaseSession session, long space, Counter counter, long before) throws SQLException {
        session.update(UNDO);
        counter.reset(before);
        if (isShared && takes) {
            locked.remove(space); // the lock was taken behind the savepoint
        }
    }

    /** Ends a change that was made or undone. */
    void end(DatabaseSession session) throws SQLException {
        session.later(END);
        if (isShared) {
            session.later(UNLIMITED);
        }
    }

    /** Returns what a failure is to be told as if rows were locked by another hub; null if it has another cause. */
    @Nullable
    Contended contention(long space, Exception failure) {
        for (Throwable cause = failure; isShared && cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sqlFailure && UNAVAILABLE.equals(sqlFailure.getSQLState())) {
                contended.put(space, System.nanoTime() + REST.toNanos());
                return new Contended();
            }
        }
        return null;
    }

    /**
     * Makes a change again, on the thread of its caller, as long as another hub has locked its rows.
     *
     * @throws KnowledgeStoreException if that takes too long
     */
    static <T> T patiently(Supplier<T> change) {
        long end = System.nanoTime() + StatementStore.PATIENCE.toNanos();
        for (int attempt = 1; ; attempt++) {
            try {
                return change.get();
            } catch (Contended met) {
                if (System.nanoTime() - end > 0) {
                    throw KnowledgeStoreException.unavailable("another hub writes to the graph for too long", met);
                }
                LockSupport.parkNanos(PAUSES.bound(attempt).toNanos());
                if (Thread.interrupted()) {
                    throw SqlStatementStore.interrupted();
                }
            }
        }
    }

    // ---- Of a transaction

    /** Locks a space before its first read by a transaction, which then sees what others have committed. */
    Counter lock(DatabaseSession session, long space) throws SQLException {
        Counter counter = locked.get(space);
        if (counter == null) {
            long[] row = session.first(
                            found -> new long[] {found.getLong(1), found.getLong(2)},
                            sql.locking("SELECT newest, erasures FROM kg_space WHERE space = ?"),
                            space)
                    .orElse(new long[2]);
            if (isShared) {
                terms.requireErasures(row[1]);
                contended.remove(space);
            }
            counter = new Counter(row[0]);
            locked.put(space, counter);
        }
        return counter;
    }

    /** Leaves out a number of a locked space, so that other hubs see that something was changed without one. */
    void skip(long space) {
        Counter counter = locked.get(space);
        if (counter != null) {
            counter.next();
        }
    }

    /**
     * Locks what an erasure writes.
     *
     * @param alsoTerms whether terms are erased, of which no transaction of another hub may use one meanwhile
     * @return the counter of its space; null if another hub has rows of it locked
     */
    @Nullable
    Counter lockForErasure(DatabaseSession session, long space, boolean alsoTerms) throws SQLException {
        if (!isShared) {
            return lock(session, space);
        }
        session.update(BEGIN);
        Counter counter = null;
        try {
            if (alsoTerms) {
                lockTerms(session);
            }
            counter = lock(session, space);
        } catch (SQLException failure) {
            if (contention(space, failure) == null) {
                throw failure;
            }
            session.update(UNDO);
        }
        end(session);
        return counter;
    }

    /** Excludes changes of all spaces by other hubs, which then forget the numbers of terms that they have in memory. */
    private static void lockTerms(DatabaseSession session) throws SQLException {
        session.number(CREATING + " FOR UPDATE");
        session.number("SELECT count(*) FROM (SELECT space FROM kg_space ORDER BY space FOR UPDATE) AS locked");
        session.update("UPDATE kg_space SET erasures = (SELECT max(erasures) + 1 FROM kg_space)");
    }

    /** Adds the row of a group. No terms are erased until the transaction ends. */
    void add(DatabaseSession session, String group) throws SQLException {
        if (!isShared) {
            session.update(
                    "INSERT INTO kg_space (group_id, forgotten) VALUES (?, 0) ON CONFLICT (group_id) DO NOTHING",
                    group);
            return;
        }
        session.number(CREATING + " FOR KEY SHARE");
        session.update(
                "INSERT INTO kg_space (group_id, forgotten, erasures) SELECT ?, 0, coalesce(max(erasures), 0)"
                        + " FROM kg_space ON CONFLICT (group_id) DO NOTHING",
                group);
    }

    /** Writes the numbers that were given, one row for each space. */
    void write(DatabaseSession session) throws SQLException {
        for (var space : locked.entrySet()) {
            Counter counter = space.getValue();
            if (counter.newest != counter.before) {
                session.later("UPDATE kg_space SET newest = ? WHERE space = ?", counter.newest, space.getKey());
            }
        }
    }

    /** The transaction has ended. */
    void unlock() {
        locked.clear();
    }
}
