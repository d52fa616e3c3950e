package dev.parley.store.database;

import dev.parley.store.connection.Connector;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.TaskTables;
import java.sql.SQLException;
import java.time.Duration;

/** A database system: its connections, the beginning of its transactions, and the SQL in which it differs from others. */
public sealed interface DatabaseSystem extends Connector permits SqliteSystem, PostgresqlSystem {
    DatabaseKind kind();

    /** Returns a statement that makes or changes tables, in this system's words. */
    String spelled(String sql);

    /** Returns a table with a column {@code value} of the texts in the parameter, a JSON array. */
    String jsonTexts();

    /**
     * Returns what follows a column in a condition: that it is one of {@link #jsonTexts}. For columns that begin an index: an array leads
     * PostgreSQL to it, while a subquery may be joined by a scan of the table. Without an index, each row is compared with each text.
     */
    default String isOneOf() {
        String texts = "(SELECT value FROM " + jsonTexts() + ")";
        return kind() == DatabaseKind.POSTGRESQL ? " = ANY (ARRAY" + texts + ")" : " IN " + texts;
    }

    /** The version of the tables of tasks. */
    long schema(DatabaseSession session) throws SQLException;

    /** The version of the tables of tasks that this program writes. */
    int currentSchema();

    /** The tables of tasks, compared with those of this program. */
    default TaskTables taskTables(DatabaseSession session) throws SQLException {
        long version = schema(session);
        return new TaskTables(version, currentSchema(), version == currentSchema());
    }

    /** Limits how long the next statements wait for the locks of others. */
    void lockTimeout(DatabaseSession session, int millis) throws SQLException;

    /** Begins a transaction of the writer, before its first read. */
    void begin(DatabaseSession session) throws SQLException;

    /** Has all statements of a transaction that reads see the same moment. */
    default void beginSnapshot(DatabaseSession session) throws SQLException {}

    /** Has the transaction that was begun write to the disk, if nothing else does. */
    default void touch(DatabaseSession session) throws SQLException {}

    /** The transaction that was begun last is in the database. */
    default void committed() {}

    /** The commit of the transaction that was begun last has failed: it is in the database as a whole, or not at all. */
    default void uncertain() {}

    /** The writer's connection is a new one. */
    default void reopened(DatabaseSession session) throws SQLException {}

    /** True if a transaction with a failed commit is in the database, looked up after a connection was opened again. */
    default boolean hasLanded() {
        return false;
    }

    /** True if a statement failed because its connection had been broken. */
    default boolean isBroken(SQLException failure) {
        return false;
    }

    /** Time that works wait for a database that cannot be written, or does not answer, before they are refused; zero for no limit. */
    default Duration patience() {
        return Duration.ZERO;
    }

    /** Time after which a read of a few rows is given up; zero for no limit. */
    default Duration readPatience() {
        return Duration.ZERO;
    }

    /** Ends what the thread that writes waits for in the database. On any thread. */
    default void interrupt(Thread writer) {}

    /** Changes tables without the time limit of statements. */
    default void unlimited(DatabaseSession session, SqlRun changes) throws SQLException {
        changes.run();
    }

    /** Whether another hub that starts at the same time has made tables of a version, for which this waits. In the transaction in the making. */
    default boolean isMadeByAnother(DatabaseSession session, String module, int version) throws SQLException {
        return false;
    }

    /** Whether hubs of other releases may have the database open at the same time, or come back. */
    default boolean isShared() {
        return false;
    }

    /**
     * Changes tables, in the transaction in the making, without the time limit of statements.
     *
     * @return false if others use them, so that nothing was changed
     */
    default boolean changes(DatabaseSession session, SqlRun changes) throws SQLException {
        unlimited(session, changes);
        return true;
    }

    /** Runs statements. */
    @FunctionalInterface
    interface SqlRun {
        void run() throws SQLException;
    }
}
