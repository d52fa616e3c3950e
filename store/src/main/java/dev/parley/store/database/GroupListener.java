package dev.parley.store.database;

import java.sql.SQLException;

/** Listener of the end of each group, on the writer thread. */
public interface GroupListener {
    /** The group is written and about to be committed. */
    default void beforeCommit(DatabaseSession session) throws SQLException {}

    /** The group with this number of works is on disk; their callbacks follow. */
    default void committed(int works) {}

    /** The group was refused. Nothing of it is on disk, unless it was the commit that failed. */
    default void rolledBack() {}

    /**
     * The connection is a new one, because the one before failed. The last group may be on disk although its
     * commit failed, so cached state has to be read again.
     */
    default void reopened(DatabaseSession session) throws SQLException {}
}
