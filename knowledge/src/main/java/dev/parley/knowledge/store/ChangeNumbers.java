package dev.parley.knowledge.store;

import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/**
 * Numbers of changes. The row of a space has the number of its newest change; a transaction that writes to the space locks the row until it
 * ends, so that the changes of a space are numbered in the order of their commits, whichever hub writes them. For the writer thread.
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

    private final Sql sql;
    private final Map<Long, Counter> locked = new HashMap<>();

    ChangeNumbers(Sql sql) {
        this.sql = sql;
    }

    /** Locks a space before its first read by a transaction, which then sees what others have committed. */
    Counter lock(DatabaseSession session, long space) throws SQLException {
        Counter counter = locked.get(space);
        if (counter == null) {
            counter = new Counter(session.number(sql.locking("SELECT newest FROM kg_space WHERE space = ?"), space));
            locked.put(space, counter);
        }
        return counter;
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
