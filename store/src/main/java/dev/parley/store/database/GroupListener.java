package dev.parley.store.database;

import java.sql.SQLException;

/** Told of the end of each group, on the writer thread. */
public interface GroupListener {
    /** The group is written and about to be committed. */
    default void beforeCommit(Session session) throws SQLException {}

    /** The group of so many pieces of work is on disk; they are yet to be told. */
    default void committed(int works) {}

    /** The group was refused. Nothing of it is on disk, unless it was the commit that failed. */
    default void rolledBack() {}

    /**
     * The connection is a new one, because the one before failed. What was last written may be on disk although its
     * commit failed, so read again what is remembered of it.
     */
    default void reopened(Session session) throws SQLException {}
}
