package dev.parley.knowledge.store;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.store.StatementStore.Writing;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The statements of a group while an update changes them, and the records that belong to the update. */
public interface GraphWriting extends GraphView, Writing {
    /** Rest of a statement after a source has removed it. */
    enum Left {
        /** No visible change. */
        AS_IT_WAS,
        /** The statement with the annotations of another source. */
        OF_OTHERS,
        NOTHING
    }

    /** Rows of the hub's own tables that are written in the transaction of the update. */
    @FunctionalInterface
    interface Recording {
        void write(SqlWriting tables) throws SQLException;
    }

    /** Writes rows with the update, in the order of the calls; if one throws, nothing of the update is done. */
    void record(Recording recording) throws SQLException;

    /** Announces statements that are going to be looked up, so that a store may fetch them in one request. */
    default void expect(Collection<Statement> statements) {}

    /** Time of the update, which confirms its statements. */
    long nowMs();

    /**
     * Returns the number of the next change. Changes of a group are numbered in the order of their commits; numbers of changes that are not
     * made, because statements are held already, are left out.
     */
    long nextChange();

    /** Number of the newest change before this update. */
    long numberedBefore();

    /** Takes a number by a statement that writes, at the latest with the update. */
    long take(Asking<Long> taking) throws SQLException;

    /** Sets the number of the change for the following writes. */
    void change(long number);

    /** Statements that were written or removed, without annotations, and whether they are held now. */
    Map<Statement, Boolean> changed();

    /** Holds a statement as if {@code source} had never said it. */
    Left withdraw(Statement statement, @Nullable String source) throws SQLException;

    /** Holds a statement as if its latest source had never said it. */
    Left withdraw(Statement statement) throws SQLException;
}
