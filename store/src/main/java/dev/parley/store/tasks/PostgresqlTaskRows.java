package dev.parley.store.tasks;

import static dev.parley.store.audit.States.code;

import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.HotSums;
import dev.parley.store.database.HotSums.Addition;
import dev.parley.store.database.PostgresqlBatch.Check;
import dev.parley.store.database.PostgresqlBatch.Piece;
import dev.parley.store.database.PostgresqlSystem;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the rows of a group of works back, and writes those of a table by one statement, in the {@linkplain PostgresqlBatch batch}
 * of the group. A task is owned by the {@linkplain PostgresqlSystem stream} that writes it
 * until it has ended or waits for its caller.
 */
final class PostgresqlTaskRows implements TaskRows {
    /** Number of tasks with cached rows for their next segment. */
    private static final int MAX_REMEMBERED = 10_000;

    private static final String INSERT_TASKS =
            "INSERT INTO task (task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents,"
                    + " entry_no, address, salt, received, sent, events, bytes, owner, stream_no)"
                    + " SELECT u.*, CASE WHEN u.state IN (0, 1, 2) THEN s.no END, CASE WHEN u.entry_no IS NOT NULL THEN s.no END"
                    + " FROM unnest(?::text[], ?::bigint[], ?::text[], ?::integer[], ?::bigint[], ?::bigint[], ?::text[], ?::text[],"
                    + " ?::integer[], ?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bytea[],"
                    + " ?::bigint[])"
                    + " AS u(task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents, entry_no,"
                    + " address, salt, received, sent, events, bytes), (SELECT ?::bigint AS no) AS s";

    private static final String UPDATE_TASKS =
            "UPDATE task SET state = u.state, status_ms = u.status_ms, last_seq = u.last_seq, turns = task.turns + u.turns,"
                    + " bytes = task.bytes + u.bytes,"
                    + " owner = CASE WHEN u.state IN (0, 1, 2) THEN s.no END"
                    + " FROM unnest(?::text[], ?::bigint[], ?::integer[], ?::bigint[], ?::bigint[], ?::integer[], ?::bigint[])"
                    + " AS u(task_id, previous, state, status_ms, last_seq, turns, bytes), (SELECT ?::bigint AS no) AS s"
                    + " WHERE task.task_id = u.task_id AND task.last_seq = u.previous"
                    + " AND (task.owner = s.no OR task.owner IS NULL)";

    private static final String INSERT_SEGMENTS =
            "INSERT INTO segment (task_id, first_seq, events, entry_no, state, previous, caller, address, salt, trace, agents,"
                    + " received, sent, at_ms, stream_no) SELECT u.*, s.no FROM unnest(?::text[], ?::bigint[], ?::bytea[], ?::bigint[],"
                    + " ?::integer[], ?::integer[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],"
                    + " ?::bigint[]) AS u,"
                    + " (SELECT ?::bigint AS no) AS s";

    private static final String INSERT_MESSAGES =
            "INSERT INTO message (day, lane_no, message_id, task_id, made_ms, stream_no)"
                    + " SELECT u.*, s.no FROM unnest(?::integer[], ?::bigint[], ?::text[], ?::text[], ?::bigint[]) AS u,"
                    + " (SELECT ?::bigint AS no) AS s"
                    + " ON CONFLICT (day, lane_no, message_id) DO UPDATE SET task_id = excluded.task_id,"
                    + " made_ms = excluded.made_ms, stream_no = excluded.stream_no";

    /** Column of the rows of a statement, and its type. */
    private record Column<T>(String type, Function<T, @Nullable Object> value) {}

    private static final List<Column<NewTask>> TASK = List.of(
            new Column<>("text", NewTask::id),
            new Column<>("bigint", NewTask::lane),
            new Column<>("text", NewTask::contextId),
            new Column<>("integer", row -> code(row.state())),
            new Column<>("bigint", NewTask::statusMs),
            new Column<>("bigint", NewTask::lastSequence),
            new Column<>("text", NewTask::caller),
            new Column<>("text", NewTask::trace),
            new Column<>("integer", NewTask::turns),
            new Column<>("text", NewTask::agents),
            new Column<>("bigint", row -> inRow(row, InRow::entry)),
            new Column<>("text", row -> inRow(row, InRow::address)),
            new Column<>("text", row -> inRow(row, InRow::salt)),
            new Column<>("text", row -> inRow(row, inRow -> inRow.ids().received())),
            new Column<>("text", row -> inRow(row, inRow -> inRow.ids().sent())),
            new Column<>("bytea", row -> inRow(row, InRow::events)),
            new Column<>("bigint", NewTask::bytes));

    private static final List<Column<Move>> MOVE = List.of(
            new Column<>("text", Move::taskId),
            new Column<>("bigint", Move::previousSequence),
            new Column<>("integer", row -> code(row.state())),
            new Column<>("bigint", Move::statusMs),
            new Column<>("bigint", Move::lastSequence),
            new Column<>("integer", Move::turns),
            new Column<>("bigint", Move::bytes));

    private static final List<Column<SegmentRow>> SEGMENT = List.of(
            new Column<>("text", SegmentRow::taskId),
            new Column<>("bigint", SegmentRow::firstSequence),
            new Column<>("bytea", SegmentRow::events),
            new Column<>("bigint", SegmentRow::entry),
            new Column<>("integer", row -> codeOf(row.state())),
            new Column<>("integer", row -> codeOf(row.previous())),
            new Column<>("text", SegmentRow::caller),
            new Column<>("text", SegmentRow::address),
            new Column<>("text", SegmentRow::salt),
            new Column<>("text", SegmentRow::trace),
            new Column<>("text", SegmentRow::agents),
            new Column<>("text", row -> row.ids().received()),
            new Column<>("text", row -> row.ids().sent()),
            new Column<>("bigint", SegmentRow::atMs));

    private static final List<Column<MessageRow>> MESSAGE = List.of(
            new Column<>("integer", MessageRow::day),
            new Column<>("bigint", MessageRow::lane),
            new Column<>("text", MessageRow::messageId),
            new Column<>("text", MessageRow::taskId),
            new Column<>("bigint", MessageRow::madeMs));

    private record MessageId(long day, long lane, String id) {
        static final Comparator<MessageId> ORDER = Comparator.comparingLong(MessageId::day)
                .thenComparingLong(MessageId::lane)
                .thenComparing(MessageId::id);
    }

    private final PostgresqlSystem system;
    private final HotSums tally;
    private final MessagePartitions partitions = new MessagePartitions();
    private final Map<String, NewTask> tasks = new LinkedHashMap<>();
    /** In the order of their keys, in which rows are locked. */
    private final Map<String, Move> moves = new TreeMap<>();

    private final List<SegmentRow> segments = new ArrayList<>();
    private final Map<MessageId, MessageRow> messages = new TreeMap<>(MessageId.ORDER);

    /** Rows of tasks that have not ended, as the group in the making has them. */
    private final Map<String, Before> remembered = new LruMap<>(MAX_REMEMBERED);

    PostgresqlTaskRows(PostgresqlSystem system) {
        this.system = system;
        this.tally = new HotSums(
                system,
                "tally",
                List.of(new HotSums.Column("lane_no", "bigint"), new HotSums.Column("state", "integer")),
                new HotSums.Column("tasks", "integer"));
        system.batch().rows(this::addTo);
    }

    @Override
    public void create(DatabaseSession session, NewTask task) throws SQLException {
        if (tasks.putIfAbsent(task.id(), task) != null) {
            throw new SQLException("task \"" + task.id() + "\": exists already", "23505");
        }
        remember(task.id(), new Before(task.state(), task.statusMs(), task.caller()));
        InRow inRow = task.inRow();
        session.defer(system.batch(), inRow == null ? 0 : inRow.events().length);
    }

    private void remember(String taskId, Before row) {
        if (row.state().isTerminal()) {
            remembered.remove(taskId);
        } else {
            remembered.put(taskId, row);
        }
    }

    @Override
    public @Nullable Before before(DatabaseSession session, String taskId) throws SQLException {
        Before row = remembered.get(taskId);
        return row == null ? SqliteTaskRows.read(session, taskId) : row;
    }

    @Override
    public void move(DatabaseSession session, Move move, Before before) {
        NewTask task = tasks.get(move.taskId());
        Move earlier = moves.get(move.taskId());
        if (task != null && task.inRow() == null) {
            tasks.put(move.taskId(), moved(task, move));
        } else if (earlier != null) {
            moves.put(
                    move.taskId(),
                    new Move(
                            move.taskId(),
                            earlier.previousSequence(),
                            move.state(),
                            move.statusMs(),
                            move.lastSequence(),
                            earlier.turns() + move.turns(),
                            earlier.bytes() + move.bytes()));
        } else {
            moves.put(move.taskId(), move);
        }
        remember(move.taskId(), new Before(move.state(), move.statusMs(), before.caller()));
        session.defer(system.batch(), 0);
    }

    private static NewTask moved(NewTask task, Move move) {
        return new NewTask(
                task.id(),
                task.lane(),
                task.contextId(),
                move.state(),
                move.statusMs(),
                move.lastSequence(),
                task.caller(),
                task.trace(),
                task.turns() + move.turns(),
                task.agents(),
                task.bytes() + move.bytes(),
                null);
    }

    @Override
    public void segment(DatabaseSession session, SegmentRow segment) {
        segments.add(segment);
        session.defer(system.batch(), segment.events().length);
    }

    @Override
    public void message(DatabaseSession session, MessageRow message) {
        messages.put(new MessageId(message.day(), message.lane(), message.messageId()), message);
        session.defer(system.batch(), 0);
    }

    private void addTo(List<Piece> pieces) {
        if (!messages.isEmpty()) {
            pieces.add(piece(INSERT_MESSAGES, MESSAGE, messages.values(), Check.NONE));
            messages.clear();
        }
        if (!tasks.isEmpty()) {
            pieces.add(piece(INSERT_TASKS, TASK, tasks.values(), Check.NONE));
            tasks.clear();
        }
        if (!moves.isEmpty()) {
            int moved = moves.size();
            pieces.add(piece(UPDATE_TASKS, MOVE, moves.values(), updated -> requireAll(moved, updated)));
            moves.clear();
        }
        if (!segments.isEmpty()) {
            pieces.add(piece(INSERT_SEGMENTS, SEGMENT, segments, Check.NONE));
            segments.clear();
        }
    }

    /** Returns a statement with the rows as arrays, one for each column, and the stream. */
    private <T> Piece piece(String sql, List<Column<T>> columns, Collection<T> written, Check check) {
        List<T> rows = List.copyOf(written);
        long stream = system.stream();
        return new Piece(
                sql,
                parameters -> {
                    for (Column<T> column : columns) {
                        parameters.add(column.type, rows, column.value);
                    }
                    parameters.add(stream);
                },
                check);
    }

    private static @Nullable Object inRow(NewTask task, Function<InRow, @Nullable Object> value) {
        InRow row = task.inRow();
        return row == null ? null : value.apply(row);
    }

    private static void requireAll(int rows, int updated) throws SQLException {
        if (updated != rows) {
            // As a violation of a constraint: each work then gets a transaction of its own, and the faulty ones fail.
            throw new SQLException(
                    (rows - updated) + " of " + rows + " tasks are gone, have other events or are run by another hub",
                    "23000");
        }
    }

    private static @Nullable Integer codeOf(@Nullable TaskState state) {
        return state == null ? null : code(state);
    }

    @Override
    public boolean sweepMessages(DatabaseSession session, long today) throws SQLException {
        boolean swept = SqliteTaskRows.sweep(session, "message_rest", today);
        return partitions.update(session, today) && swept;
    }

    @Override
    public void count(DatabaseSession session, Map<Tally, Integer> changes) {
        List<Addition> rows = changes.entrySet().stream()
                .filter(change -> change.getValue() != 0)
                .sorted(Comparator.comparingLong((Map.Entry<Tally, Integer> change) ->
                                change.getKey().lane())
                        .thenComparingInt(change -> code(change.getKey().state())))
                .map(change -> new Addition(
                        List.of(change.getKey().lane(), code(change.getKey().state())), change.getValue()))
                .toList();
        if (!rows.isEmpty()) {
            tally.add(session, rows);
        }
    }

    @Override
    public void rolledBack() {
        tasks.clear();
        moves.clear();
        segments.clear();
        messages.clear();
        remembered.clear(); // some rows were as the group would have left them
    }
}
