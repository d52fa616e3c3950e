package dev.parley.store.tasks;

import static dev.parley.store.audit.States.code;
import static dev.parley.store.audit.States.state;

import dev.parley.dialect.Json;
import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.OtherOwnerException;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlBatch;
import dev.parley.store.database.PostgresqlBatch.Check;
import dev.parley.store.database.PostgresqlBatch.Piece;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.Storage.HotSums;
import dev.parley.store.database.Storage.HotSums.Addition;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the rows of a group of works back, and writes those of a table by one statement, in the {@linkplain PostgresqlBatch batch} of the
 * group. A task is owned by the {@linkplain PostgresqlSystem stream} that writes it until it has ended or waits for its caller.
 */
final class PostgresqlTaskRows implements TaskRows, PostgresqlBatch.Source, RivalKey.Statements {
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

    private static final String INSERT_MESSAGES = insertMessages("");

    /**
     * Not if an equal key of the day before or after leads to another task. The plan looks for each row by itself, since the subquery is
     * a value: a join might read all keys.
     */
    private static final String INSERT_CLAIMS =
            insertMessages(" WHERE coalesce((SELECT false FROM message m WHERE m.day IN (u.day - 1, u.day + 1)"
                    + " AND m.lane_no = u.lane_no AND m.message_id = u.message_id AND m.task_id <> u.task_id LIMIT 1),"
                    + " true)");

    private static String insertMessages(String condition) {
        return "INSERT INTO message (day, lane_no, message_id, task_id, made_ms, stream_no)"
                + " SELECT u.*, s.no FROM unnest(?::integer[], ?::bigint[], ?::text[], ?::text[], ?::bigint[])"
                + " AS u(day, lane_no, message_id, task_id, made_ms), (SELECT ?::bigint AS no) AS s" + condition
                + " ON CONFLICT (day, lane_no, message_id) DO NOTHING";
    }

    /**
     * Keys that lead to other tasks than those of the arrays, of the same days and of those beside them; a row of nulls for a key that leads
     * nowhere: the rival that kept it out was removed since.
     */
    private static final String RIVALS = "SELECT u.no, m.day, m.task_id, m.made_ms, m.stream_no,"
            + " EXISTS (SELECT 1 FROM task WHERE task.task_id = m.task_id),"
            + " EXISTS (SELECT 1 FROM stream WHERE stream.stream_no = m.stream_no)"
            + " FROM unnest(?::integer[], ?::bigint[], ?::text[], ?::text[]) WITH ORDINALITY"
            + " AS u(day, lane_no, message_id, task_id, no) LEFT JOIN LATERAL (SELECT * FROM message WHERE"
            + " message.day IN (u.day - 1, u.day, u.day + 1) AND message.lane_no = u.lane_no"
            + " AND message.message_id = u.message_id AND message.task_id <> u.task_id LIMIT 3) AS m ON true"
            + " WHERE m.task_id IS NOT NULL OR coalesce((SELECT false FROM message WHERE message.day = u.day"
            + " AND message.lane_no = u.lane_no AND message.message_id = u.message_id LIMIT 1), true)";

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
        static MessageId of(MessageRow row) {
            return new MessageId(row.day(), row.lane(), row.messageId());
        }

        static final Comparator<MessageId> ORDER = Comparator.comparingLong(MessageId::day)
                .thenComparingLong(MessageId::lane)
                .thenComparing(MessageId::id);
    }

    private final PostgresqlSystem system;
    private final Once once;
    private final HotSums tally;
    private final MessagePartitions partitions = new MessagePartitions();
    private final Map<String, NewTask> tasks = new LinkedHashMap<>();
    /** In the order of their keys, in which rows are locked. */
    private final Map<String, Move> moves = new TreeMap<>();

    private final List<SegmentRow> segments = new ArrayList<>();
    private final Map<MessageId, MessageRow> messages = new TreeMap<>(MessageId.ORDER);
    private final Map<MessageId, MessageRow> claims = new TreeMap<>(MessageId.ORDER);
    /** The users of these two. */
    private final List<Keys> users = new ArrayList<>();

    /** Keys of the batch that exist already. */
    private int rivals;
    /** The tasks of the batch, if one of them is not as it was read. */
    private final List<Move> unmoved = new ArrayList<>();

    /** Rows of tasks that have not ended, as the group in the making has them. */
    private final Map<String, Before> remembered = new LruMap<>(MAX_REMEMBERED);

    PostgresqlTaskRows(PostgresqlSystem system, Once once) {
        this.system = system;
        this.once = once;
        this.tally = new HotSums(
                system,
                "tally",
                List.of(new HotSums.Column("lane_no", "bigint"), new HotSums.Column("state", "integer")),
                new HotSums.Column("tasks", "integer"));
        system.batch().rows(this);
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
        // A task that waits for its caller may go on at another hub.
        if (row.state().isTerminal() || once == Once.CLAIM && row.state().isInterrupted()) {
            remembered.remove(taskId);
        } else {
            remembered.put(taskId, row);
        }
    }

    @Override
    public @Nullable Before before(DatabaseSession session, String taskId, long previousSequence, RowUser user)
            throws SQLException {
        Before known = remembered.get(taskId);
        if (known != null) {
            return known;
        }
        try (ResultSet row = session.bind(
                        "SELECT state, status_ms, caller, coalesce(owner = ?, last_seq = ?) FROM task WHERE task_id = ?",
                        system.stream(),
                        previousSequence,
                        taskId)
                .executeQuery()) {
            if (!row.next()) {
                return null;
            }
            if (once == Once.CLAIM && !row.getBoolean(4)) { // by the update all of the group would be rolled back
                user.refused(new OtherOwnerException(taskId));
                return null;
            }
            return new Before(state(row.getInt(1)), row.getLong(2), DatabaseSession.text(row, 3));
        }
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
                            earlier.bytes() + move.bytes(),
                            cause -> {
                                earlier.user().refused(cause);
                                move.user().refused(cause);
                            }));
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
    public void keys(DatabaseSession session, Keys keys) {
        for (MessageRow row : keys.rows()) {
            MessageId id = MessageId.of(row);
            MessageRow other = messages.getOrDefault(id, claims.get(id));
            if (other != null && !other.taskId().equals(row.taskId())) {
                keys.user().refused(new KeyTakenException(RivalKey.words(row), true));
                return;
            }
        }
        keys.rows().forEach(row -> (keys.isClaim() ? claims : messages).put(MessageId.of(row), row));
        users.add(keys);
        session.defer(system.batch(), 0);
    }

    @Override
    public void addTo(List<Piece> pieces) {
        addKeysTo(pieces, INSERT_CLAIMS, claims);
        addKeysTo(pieces, INSERT_MESSAGES, messages);
        if (!tasks.isEmpty()) {
            pieces.add(piece(INSERT_TASKS, TASK, tasks.values(), Check.NONE));
            tasks.clear();
        }
        if (!moves.isEmpty()) {
            List<Move> moved = List.copyOf(moves.values());
            pieces.add(piece(UPDATE_TASKS, MOVE, moved, updated -> {
                if (updated < moved.size()) {
                    unmoved.addAll(moved);
                }
            }));
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

    private void addKeysTo(List<Piece> pieces, String sql, Map<MessageId, MessageRow> keys) {
        if (!keys.isEmpty()) {
            int rows = keys.size();
            pieces.add(piece(sql, MESSAGE, keys.values(), inserted -> rivals += rows - inserted));
            keys.clear();
        }
    }

    @Override
    public void flushed(DatabaseSession session) throws SQLException {
        List<Keys> flushed = List.copyOf(users);
        users.clear();
        if (rivals > 0) {
            rivals = 0;
            settle(session, flushed);
        }
        if (!unmoved.isEmpty()) {
            List<Move> moved = List.copyOf(unmoved);
            unmoved.clear();
            refuseUnmoved(session, moved);
        }
    }

    /** A task whose row was to be updated. */
    private record Found(boolean isUpdated, boolean isOwn) {}

    /** Refuses the segments of tasks that another hub runs or has written to. The group is repeated without these. */
    private void refuseUnmoved(DatabaseSession session, List<Move> moves) throws SQLException {
        String ids = new String(Json.write(moves.stream().map(Move::taskId).toList()), StandardCharsets.UTF_8);
        var found = new HashMap<String, Found>();
        session.list(
                row -> found.put(DatabaseSession.text(row, 1), new Found(row.getBoolean(2), row.getBoolean(3))),
                "SELECT task_id, xmin = CAST(pg_current_xact_id() AS xid), coalesce(owner = ?, false) FROM task"
                        + " WHERE task_id" + system.isOneOf(),
                system.stream(),
                ids);
        boolean isRefused = false;
        for (Move move : moves) {
            Found task = found.get(move.taskId());
            if (task != null && !task.isUpdated && !task.isOwn) {
                move.user().refused(new OtherOwnerException(move.taskId()));
                isRefused = true;
            }
        }
        // As transactions that met, or as a violation of a constraint: then each work gets a transaction of its own,
        // and the faulty ones fail.
        throw isRefused
                ? new SQLException("tasks of the group are run by other hubs", "40001")
                : new SQLException("tasks of the group are gone or have other events", "23000");
    }

    /** Settles which keys are those of their users, all of which have been sent to the server. */
    private void settle(DatabaseSession session, List<Keys> users) throws SQLException {
        boolean isUndone = false;
        Map<Keys, List<RivalKey>> found = rivals(session, users);
        for (var each : found.entrySet()) {
            Keys keys = each.getKey();
            boolean[] refused = new boolean[1];
            var told = new Keys(keys.rows(), keys.isClaim(), cause -> {
                refused[0] = true;
                keys.user().refused(cause);
            });
            RivalKey.settle(session, told, List.copyOf(each.getValue()), this);
            isUndone |= refused[0] && !keys.isClaim();
        }
        if (isUndone) {
            // As transactions that met: the group is repeated as it is, without what has been refused.
            throw new SQLException("messages of the group lead to other tasks", "40001");
        }
    }

    private Map<Keys, List<RivalKey>> rivals(DatabaseSession session, List<Keys> users) throws SQLException {
        var owners = new ArrayList<Keys>();
        var rows = new ArrayList<MessageRow>();
        for (Keys keys : users) {
            for (MessageRow row : keys.rows()) {
                owners.add(keys);
                rows.add(row);
            }
        }
        var found = new LinkedHashMap<Keys, List<RivalKey>>();
        PreparedStatement statement = session.bind(RIVALS);
        try (var parameters = new PostgresqlBatch.Parameters(statement)) {
            for (Column<MessageRow> column : MESSAGE.subList(0, 4)) {
                parameters.add(column.type, rows, column.value);
            }
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    int index = Math.toIntExact(row.getLong(1)) - 1;
                    MessageRow wanted = rows.get(index);
                    List<RivalKey> known = found.computeIfAbsent(owners.get(index), any -> new ArrayList<>());
                    if (row.getObject(2) == null) {
                        continue;
                    }
                    var rival = new RivalKey(
                            new MessageRow(
                                    row.getLong(2),
                                    wanted.lane(),
                                    wanted.messageId(),
                                    DatabaseSession.text(row, 3),
                                    row.getLong(4)),
                            row.getBoolean(6),
                            row.getLong(5),
                            row.getLong(5) != system.stream() && row.getBoolean(7));
                    if (!known.contains(rival)) {
                        known.add(rival);
                    }
                }
            }
        }
        return found;
    }

    @Override
    public boolean replace(DatabaseSession session, RivalKey before, MessageRow row) throws SQLException {
        return session.update(
                        "UPDATE message SET task_id = ?, made_ms = ?, stream_no = ? WHERE day = ? AND lane_no = ?"
                                + " AND message_id = ? AND stream_no = ? AND task_id = ?",
                        row.taskId(),
                        row.madeMs(),
                        system.stream(),
                        row.day(),
                        row.lane(),
                        row.messageId(),
                        before.stream(),
                        before.row().taskId())
                > 0;
    }

    @Override
    public boolean remove(DatabaseSession session, RivalKey key) throws SQLException {
        return session.update(
                        "DELETE FROM message WHERE day = ? AND lane_no = ? AND message_id = ? AND stream_no = ?"
                                + " AND task_id = ?",
                        key.row().day(),
                        key.row().lane(),
                        key.row().messageId(),
                        key.stream(),
                        key.row().taskId())
                > 0;
    }

    @Override
    public void add(DatabaseSession session, MessageRow row) throws SQLException {
        session.update(
                "INSERT INTO message (day, lane_no, message_id, task_id, made_ms, stream_no) VALUES (?, ?, ?, ?, ?, ?)"
                        + " ON CONFLICT (day, lane_no, message_id) DO NOTHING",
                row.day(),
                row.lane(),
                row.messageId(),
                row.taskId(),
                row.madeMs(),
                system.stream());
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
        claims.clear();
        users.clear();
        rivals = 0;
        unmoved.clear();
        remembered.clear(); // some rows were as the group would have left them
    }
}
