package dev.parley.store.tasks;

import dev.parley.engine.spi.Once;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.DatabaseSystem;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.SqliteSystem;
import java.sql.SQLException;
import java.util.List;
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
     * @param bytes of its segments, with their rows; 0 if it is in the row
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
            long bytes,
            @Nullable InRow inRow) {}

    /**
     * Returns what writes the rows of a database system.
     *
     * @param once {@link Once#CLAIM} if several hubs write to it
     */
    static TaskRows of(DatabaseSystem system, Once once) {
        return switch (system) {
            case SqliteSystem sqlite -> new SqliteTaskRows();
            case PostgresqlSystem postgresql -> new PostgresqlTaskRows(postgresql, once);
        };
    }

    /** Ids of the last message from a caller, and of the last one from the agent, in a segment; null for none. */
    record Ids(@Nullable String received, @Nullable String sent) {
        static final Ids NONE = new Ids(null, null);

        static Ids in(List<LoggedEvent> events) {
            Ids ids = NONE;
            for (int i = events.size() - 1; i >= 0 && (ids.received == null || ids.sent == null); i--) {
                ids = switch (events.get(i).event()) {
                    case Message message -> ids.or(message);
                    case Task task ->
                        task.history().reversed().stream()
                                .reduce(ids.or(task.status().message()), Ids::or, (one, two) -> one);
                    case TaskStatusUpdateEvent update -> ids.or(update.status().message());
                    case TaskArtifactUpdateEvent none -> ids;
                };
            }
            return ids;
        }

        /** These, or with the id of an older message if they have none of its kind. */
        private Ids or(@Nullable Message older) {
            if (older == null || (older.role() == Role.USER ? received : sent) != null) {
                return this;
            }
            return older.role() == Role.USER ? new Ids(older.messageId(), sent) : new Ids(received, older.messageId());
        }
    }

    /** The only segment of a task, which is in the task's row. */
    record InRow(long entry, String address, String salt, Ids ids, byte[] events) {}

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
            @Nullable String agents,
            Ids ids,
            long atMs) {
        /** A segment that is not an entry of the audit. */
        static SegmentRow chunk(String taskId, long firstSequence, byte[] events, long atMs) {
            return new SegmentRow(
                    taskId, firstSequence, events, null, null, null, null, null, null, null, null, Ids.NONE, atMs);
        }
    }

    /** The row of a task as it was. */
    record Before(TaskState state, long statusMs, String caller) {}

    /**
     * New head of a task.
     *
     * @param previousSequence of its last event so far
     * @param turns messages of callers that it answers for from now on, too
     * @param bytes of its new segment, with its row
     * @param user receives the refusal if another hub owns the task or has written to it; the group is rolled back and repeated then
     */
    record Move(
            String taskId,
            long previousSequence,
            TaskState state,
            long statusMs,
            long lastSequence,
            int turns,
            long bytes,
            RowUser user) {}

    /** The key of a message, and the task that it led to. */
    record MessageRow(long day, long lane, String messageId, String taskId, long madeMs) {}

    /**
     * Keys that are to lead to a task, all of them or none.
     *
     * @param isClaim whether the task is yet to begin
     * @param user is told if it does not get them
     */
    record Keys(List<MessageRow> rows, boolean isClaim, RowUser user) {}

    /** A work that needs keys, or the row of a task as it has read it. */
    interface RowUser {
        /** It does not get them, and is to write nothing. On the writer thread. */
        void refused(RuntimeException cause);
    }

    /** Key of a count of tasks. */
    record Tally(long lane, TaskState state) {}

    void create(DatabaseSession session, NewTask task) throws SQLException;

    /**
     * Returns the row of a task; null if there is none, or {@code user} has been refused and is to write nothing, keys neither.
     *
     * @param previousSequence of the last event that {@code user} knows
     * @param user receives the refusal if the row is read, and another hub owns the task or has written to it
     */
    @Nullable
    Before before(DatabaseSession session, String taskId, long previousSequence, RowUser user) throws SQLException;

    void move(DatabaseSession session, Move move, Before before) throws SQLException;

    void segment(DatabaseSession session, SegmentRow segment) throws SQLException;

    /**
     * Writes keys that lead to no other task. If one does, none of them is written and their user is told: at once or, before the commit,
     * with the group rolled back and repeated unless it is a claim. In the repetition the user is to write nothing.
     */
    void keys(DatabaseSession session, Keys keys) throws SQLException;

    /**
     * Removes keys of messages of days before the day before {@code today}, not more than a group can bear.
     *
     * @return whether none is left
     */
    boolean sweepMessages(DatabaseSession session, long today) throws SQLException;

    /** Adds to the counts of tasks. */
    void count(DatabaseSession session, Map<Tally, Integer> changes) throws SQLException;

    /** Nothing of the group is in the database. */
    void rolledBack();
}
