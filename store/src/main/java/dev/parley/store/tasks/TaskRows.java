package dev.parley.store.tasks;

import dev.parley.protocol.TaskState;
import dev.parley.store.database.DatabaseSystem;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.Session;
import dev.parley.store.database.SqliteSystem;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes the rows of the durable path: tasks, segments, messages and the tally. SQLite, which has no round trips, gets a statement for each
 * row; PostgreSQL one for each table and group of works. On the writer thread.
 */
sealed interface TaskRows permits SqliteTaskRows, PostgresqlTaskRows {
    /**
     * A task that begins.
     *
     * @param turns messages of callers that it answers for
     * @param inRow its first segment if that ends it; null if segments follow
     */
    record NewTask(
            String id,
            long lane,
            String contextId,
            TaskState state,
            long statusMs,
            long lastSequence,
            String caller,
            @Nullable String trace,
            int turns,
            @Nullable String agents,
            @Nullable InRow inRow) {}

    /** Returns what writes the rows of a database system. */
    static TaskRows of(DatabaseSystem system) {
        return switch (system) {
            case SqliteSystem sqlite -> new SqliteTaskRows();
            case PostgresqlSystem postgresql -> new PostgresqlTaskRows(postgresql);
        };
    }

    /** The only segment of a task, which is in the task's row. */
    record InRow(long entry, String address, String salt, byte[] events) {}

    /** A segment with its entry of the audit: null in a segment that leaves its task in its state. */
    record SegmentRow(
            String taskId,
            long firstSequence,
            byte[] events,
            @Nullable Long entry,
            @Nullable TaskState state,
            @Nullable TaskState previous,
            @Nullable String caller,
            @Nullable String address,
            @Nullable String salt,
            @Nullable String trace,
            @Nullable String agents) {
        /** A segment that is no entry of the audit. */
        static SegmentRow chunk(String taskId, long firstSequence, byte[] events) {
            return new SegmentRow(taskId, firstSequence, events, null, null, null, null, null, null, null, null);
        }
    }

    /** The row of a task as it was. */
    record Before(TaskState state, long statusMs, String caller) {}

    /**
     * New head of a task.
     *
     * @param previousSequence of its last event so far
     * @param turns messages of callers that it answers for from now on, too
     */
    record Move(String taskId, long previousSequence, TaskState state, long statusMs, long lastSequence, int turns) {}

    /** The key of a message, and the task that it led to. */
    record MessageRow(long day, long lane, String messageId, String taskId, long madeMs) {}

    /** Key of a count of tasks. */
    record Tally(long lane, TaskState state) {}

    void create(Session session, NewTask task) throws SQLException;

    /** Returns the row of a task; null if there is none. */
    @Nullable
    Before before(Session session, String taskId) throws SQLException;

    void move(Session session, Move move, Before before) throws SQLException;

    void segment(Session session, SegmentRow segment) throws SQLException;

    /** Writes the key of a message, in place of an equal one. */
    void message(Session session, MessageRow message) throws SQLException;

    /**
     * Removes keys of messages of days before the day before {@code today}, not more than a group can bear.
     *
     * @return whether none is left
     */
    boolean sweepMessages(Session session, long today) throws SQLException;

    /** Adds to the counts of tasks. */
    void count(Session session, Map<Tally, Integer> changes) throws SQLException;

    /** Nothing of the group is in the database. */
    void rolledBack();
}
