package dev.parley.store.tasks;

import dev.parley.engine.spi.KeyTakenException;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.tasks.TaskRows.Keys;
import dev.parley.store.tasks.TaskRows.MessageRow;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A key that leads to another task than the one that is to get it. It counts if the task exists and the key is younger than a day, or if
 * another hub that lives has claimed it; otherwise it is replaced, as long as it is as it was read.
 *
 * @param hasTask whether the task exists
 * @param stream the stream that has written it; 0 if there are none
 * @param isOfOther whether that is another stream, and lives
 */
record RivalKey(MessageRow row, boolean hasTask, long stream, boolean isOfOther) {
    private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);

    /** Statements on keys, of which a row's day, lane and id name one. */
    interface Statements {
        /** Has an existing key lead to the task of {@code row}, if it is as {@code before} says; false if it is not. */
        boolean replace(DatabaseSession session, RivalKey before, MessageRow row) throws SQLException;

        /** Removes a key that is as it was read; false if it is not. */
        boolean remove(DatabaseSession session, RivalKey key) throws SQLException;

        /** Adds a key, unless it exists. */
        void add(DatabaseSession session, MessageRow row) throws SQLException;
    }

    /** Settles whether {@code keys} get the place of others, if any; tells their user if they do not, and leaves none of them then. */
    static void settle(DatabaseSession session, Keys keys, List<RivalKey> rivals, Statements statements)
            throws SQLException {
        KeyTakenException taken = taken(keys, rivals);
        for (RivalKey rival : taken == null ? rivals : List.<RivalKey>of()) {
            MessageRow own = sameKey(keys, rival);
            boolean isReplaced =
                    own == null ? statements.remove(session, rival) : statements.replace(session, rival, own);
            if (!isReplaced) {
                taken = new KeyTakenException(rival.words(), true);
            }
        }
        for (MessageRow row : keys.rows()) {
            if (taken == null) {
                statements.add(session, row);
                if (!isOwn(session, row)) {
                    taken = new KeyTakenException(words(row), true);
                }
            }
        }
        if (taken != null) {
            for (MessageRow row : keys.rows()) {
                remove(session, row);
            }
            keys.user().refused(taken);
        }
    }

    private static @Nullable KeyTakenException taken(Keys keys, List<RivalKey> rivals) {
        KeyTakenException pending = null;
        for (RivalKey rival : rivals) {
            long now = keys.rows().getFirst().madeMs();
            if (rival.hasTask && rival.row.madeMs() > now - DAY_MS) {
                return new KeyTakenException(rival.words(), false);
            }
            if (!rival.hasTask && rival.isOfOther) {
                pending = new KeyTakenException(rival.words(), true);
            }
        }
        return pending;
    }

    private static @Nullable MessageRow sameKey(Keys keys, RivalKey rival) {
        return keys.rows().stream()
                .filter(row -> row.day() == rival.row.day() && row.messageId().equals(rival.row.messageId()))
                .findFirst()
                .orElse(null);
    }

    private static boolean isOwn(DatabaseSession session, MessageRow row) throws SQLException {
        return session.number(
                        "SELECT count(*) FROM message WHERE day = ? AND lane_no = ? AND message_id = ? AND task_id = ?",
                        row.day(),
                        row.lane(),
                        row.messageId(),
                        row.taskId())
                > 0;
    }

    /** Removes a key that leads to the task of {@code row}. */
    static void remove(DatabaseSession session, MessageRow row) throws SQLException {
        session.update(
                "DELETE FROM message WHERE day = ? AND lane_no = ? AND message_id = ? AND task_id = ?",
                row.day(),
                row.lane(),
                row.messageId(),
                row.taskId());
    }

    /** Removes a key that leads to the task of {@code row}, if that task does not exist. */
    static void release(DatabaseSession session, MessageRow row) throws SQLException {
        session.update(
                "DELETE FROM message WHERE day = ? AND lane_no = ? AND message_id = ? AND task_id = ?"
                        + " AND NOT EXISTS (SELECT 1 FROM task WHERE task.task_id = message.task_id)",
                row.day(),
                row.lane(),
                row.messageId(),
                row.taskId());
    }

    private String words() {
        return words(row);
    }

    /** A key in words. */
    static String words(MessageRow row) {
        return TaskClaims.words(row.messageId());
    }
}
