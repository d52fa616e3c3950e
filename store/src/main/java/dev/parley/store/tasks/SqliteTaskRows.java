package dev.parley.store.tasks;

import static dev.parley.store.audit.States.code;
import static dev.parley.store.audit.States.state;

import dev.parley.store.database.DatabaseSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes each row at once. */
final class SqliteTaskRows implements TaskRows, RivalKey.Statements {
    /** Rows of messages of past days that go with one group. */
    private static final int MESSAGES_SWEPT_AT_ONCE = 200;

    @Override
    public void create(DatabaseSession session, NewTask task) throws SQLException {
        InRow inRow = task.inRow();
        session.update(
                "INSERT INTO task (task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents,"
                        + " entry_no, address, salt, received, sent, events, bytes)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                task.id(),
                task.lane(),
                task.contextId(),
                code(task.state()),
                task.statusMs(),
                task.lastSequence(),
                task.caller(),
                task.trace(),
                task.turns(),
                task.agents(),
                inRow == null ? null : inRow.entry(),
                inRow == null ? null : inRow.address(),
                inRow == null ? null : inRow.salt(),
                inRow == null ? null : inRow.ids().received(),
                inRow == null ? null : inRow.ids().sent(),
                inRow == null ? null : inRow.events(),
                task.bytes());
    }

    @Override
    public @Nullable Before before(DatabaseSession session, String taskId, long previousSequence, RowUser user)
            throws SQLException {
        try (ResultSet row = session.bind("SELECT state, status_ms, caller FROM task WHERE task_id = ?", taskId)
                .executeQuery()) {
            return row.next() ? new Before(state(row.getInt(1)), row.getLong(2), DatabaseSession.text(row, 3)) : null;
        }
    }

    @Override
    public void move(DatabaseSession session, Move move, Before before) throws SQLException {
        if (before.state() == move.state() && before.statusMs() == move.statusMs()) {
            // Names no column of an index, so that a chunk writes to none.
            session.update(
                    "UPDATE task SET last_seq = ?, turns = turns + ?, bytes = bytes + ? WHERE task_id = ?",
                    move.lastSequence(),
                    move.turns(),
                    move.bytes(),
                    move.taskId());
        } else {
            session.update(
                    "UPDATE task SET state = ?, status_ms = ?, last_seq = ?, turns = turns + ?, bytes = bytes + ?"
                            + " WHERE task_id = ?",
                    code(move.state()),
                    move.statusMs(),
                    move.lastSequence(),
                    move.turns(),
                    move.bytes(),
                    move.taskId());
        }
    }

    @Override
    public void segment(DatabaseSession session, SegmentRow segment) throws SQLException {
        if (segment.entry() == null) {
            session.update(
                    "INSERT INTO segment (task_id, first_seq, events, at_ms) VALUES (?, ?, ?, ?)",
                    segment.taskId(),
                    segment.firstSequence(),
                    segment.events(),
                    segment.atMs());
            return;
        }
        session.update(
                "INSERT INTO segment (task_id, first_seq, entry_no, state, previous, caller, address, salt, trace, agents,"
                        + " received, sent, events, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                segment.taskId(),
                segment.firstSequence(),
                segment.entry(),
                segment.state() == null ? null : code(segment.state()),
                segment.previous() == null ? null : code(segment.previous()),
                segment.caller(),
                segment.address(),
                segment.salt(),
                segment.trace(),
                segment.agents(),
                segment.ids().received(),
                segment.ids().sent(),
                segment.events(),
                segment.atMs());
    }

    @Override
    public void keys(DatabaseSession session, Keys keys) throws SQLException {
        boolean hasRivals = false;
        for (MessageRow row : keys.rows()) {
            hasRivals |= !inserted(session, row);
        }
        if (hasRivals || keys.isClaim()) {
            var rivals = new ArrayList<RivalKey>();
            for (MessageRow row : keys.rows()) {
                rivals.addAll(rivals(session, row));
            }
            if (!rivals.isEmpty()) {
                RivalKey.settle(session, keys, List.copyOf(new LinkedHashSet<>(rivals)), this);
            }
        }
    }

    private static boolean inserted(DatabaseSession session, MessageRow row) throws SQLException {
        return session.update(
                        "INSERT OR IGNORE INTO message (day, lane_no, message_id, task_id, made_ms)"
                                + " VALUES (?, ?, ?, ?, ?)",
                        row.day(),
                        row.lane(),
                        row.messageId(),
                        row.taskId(),
                        row.madeMs())
                > 0;
    }

    /** Equal keys of the day and of those beside it that lead to other tasks. */
    private static List<RivalKey> rivals(DatabaseSession session, MessageRow row) throws SQLException {
        return session.list(
                read -> new RivalKey(
                        new MessageRow(
                                read.getLong(1),
                                row.lane(),
                                row.messageId(),
                                DatabaseSession.text(read, 2),
                                read.getLong(3)),
                        read.getBoolean(4),
                        0,
                        false),
                "SELECT day, task_id, made_ms, EXISTS (SELECT 1 FROM task WHERE task.task_id = message.task_id)"
                        + " FROM message WHERE day IN (?, ?, ?) AND lane_no = ? AND message_id = ? AND task_id <> ?",
                row.day() - 1,
                row.day(),
                row.day() + 1,
                row.lane(),
                row.messageId(),
                row.taskId());
    }

    @Override
    public boolean replace(DatabaseSession session, RivalKey before, MessageRow row) throws SQLException {
        return session.update(
                        "UPDATE message SET task_id = ?, made_ms = ? WHERE day = ? AND lane_no = ? AND message_id = ?"
                                + " AND task_id = ?",
                        row.taskId(),
                        row.madeMs(),
                        row.day(),
                        row.lane(),
                        row.messageId(),
                        before.row().taskId())
                > 0;
    }

    @Override
    public boolean remove(DatabaseSession session, RivalKey key) throws SQLException {
        RivalKey.remove(session, key.row());
        return true;
    }

    @Override
    public void add(DatabaseSession session, MessageRow row) throws SQLException {
        inserted(session, row);
    }

    @Override
    public boolean sweepMessages(DatabaseSession session, long today) throws SQLException {
        return sweep(session, "message", today);
    }

    /** Removes rows of a table, a few at a time. */
    static boolean sweep(DatabaseSession session, String table, long today) throws SQLException {
        return session.update(
                        "DELETE FROM " + table
                                + " WHERE (day, lane_no, message_id) IN (SELECT day, lane_no, message_id FROM " + table
                                + " WHERE day < ? LIMIT ?)",
                        today - 1,
                        MESSAGES_SWEPT_AT_ONCE)
                < MESSAGES_SWEPT_AT_ONCE;
    }

    @Override
    public void count(DatabaseSession session, Map<Tally, Integer> changes) throws SQLException {
        for (var change : changes.entrySet()) {
            if (change.getValue() != 0) {
                session.update(
                        "INSERT INTO tally (lane_no, state, tasks) VALUES (?, ?, ?)"
                                + " ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks",
                        change.getKey().lane(),
                        code(change.getKey().state()),
                        change.getValue());
            }
        }
    }

    @Override
    public void rolledBack() {
        // nothing is kept back
    }
}
