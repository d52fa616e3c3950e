package dev.parley.store;

import static dev.parley.store.States.code;

import dev.parley.protocol.TaskState;
import dev.parley.store.Database.Session;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the rows of a group of works back, and writes those of a table by one statement: before the commit, or before any
 * other statement of the group, which then sees them. A task is owned by the {@linkplain PostgresqlSystem stream} that writes it
 * until it has ended or waits for its caller.
 */
final class PostgresqlTaskRows implements TaskRows, Database.Deferred {
    /** Tasks whose rows are remembered for their next segment. */
    private static final int MAX_REMEMBERED = 10_000;

    private static final String INSERT_TASKS =
            "INSERT INTO task (task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents,"
                    + " entry_no, address, salt, events, owner, stream_no)"
                    + " SELECT u.*, CASE WHEN u.state IN (0, 1, 2) THEN s.no END, CASE WHEN u.entry_no IS NOT NULL THEN s.no END"
                    + " FROM unnest(?::text[], ?::bigint[], ?::text[], ?::integer[], ?::bigint[], ?::bigint[], ?::text[], ?::text[],"
                    + " ?::integer[], ?::text[], ?::bigint[], ?::text[], ?::text[], ?::bytea[])"
                    + " AS u(task_id, lane_no, context_id, state, status_ms, last_seq, caller, trace, turns, agents, entry_no,"
                    + " address, salt, events), (SELECT ?::bigint AS no) AS s";

    private static final String UPDATE_TASKS =
            "UPDATE task SET state = u.state, status_ms = u.status_ms, last_seq = u.last_seq, turns = task.turns + u.turns,"
                    + " owner = CASE WHEN u.state IN (0, 1, 2) THEN s.no END"
                    + " FROM unnest(?::text[], ?::bigint[], ?::integer[], ?::bigint[], ?::bigint[], ?::integer[])"
                    + " AS u(task_id, previous, state, status_ms, last_seq, turns), (SELECT ?::bigint AS no) AS s"
                    + " WHERE task.task_id = u.task_id AND task.last_seq = u.previous"
                    + " AND (task.owner = s.no OR task.owner IS NULL)";

    private static final String INSERT_SEGMENTS =
            "INSERT INTO segment (task_id, first_seq, events, entry_no, state, previous, caller, address, salt, trace, agents,"
                    + " stream_no) SELECT u.*, ? FROM unnest(?::text[], ?::bigint[], ?::bytea[], ?::bigint[], ?::integer[],"
                    + " ?::integer[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[]) AS u";

    private static final String INSERT_MESSAGES =
            "INSERT INTO message (day, lane_no, message_id, task_id, made_ms, stream_no)"
                    + " SELECT u.*, ? FROM unnest(?::integer[], ?::bigint[], ?::text[], ?::text[], ?::bigint[]) AS u"
                    + " ON CONFLICT (day, lane_no, message_id) DO UPDATE SET task_id = excluded.task_id,"
                    + " made_ms = excluded.made_ms, stream_no = excluded.stream_no";

    private static final String ADD_TO_TALLY =
            "INSERT INTO tally (lane_no, state, tasks) SELECT * FROM unnest(?::bigint[], ?::integer[], ?::integer[]) AS u"
                    + " ON CONFLICT (lane_no, state, hub_slot) DO UPDATE SET tasks = tally.tasks + excluded.tasks";

    private record MessageId(long day, long lane, String id) {
        static final Comparator<MessageId> ORDER = Comparator.comparingLong(MessageId::day)
                .thenComparingLong(MessageId::lane)
                .thenComparing(MessageId::id);
    }

    private final PostgresqlSystem system;
    private final Map<String, NewTask> tasks = new LinkedHashMap<>();
    /** In the order of their keys, in which rows are locked. */
    private final Map<String, Move> moves = new TreeMap<>();

    private final List<SegmentRow> segments = new ArrayList<>();
    private final Map<MessageId, MessageRow> messages = new TreeMap<>(MessageId.ORDER);

    /** Rows of tasks that have not ended, as the group in the making has them. */
    private final LinkedHashMap<String, Before> remembered = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Before> eldest) {
            return size() > MAX_REMEMBERED;
        }
    };

    PostgresqlTaskRows(PostgresqlSystem system) {
        this.system = system;
    }

    @Override
    public void create(Session session, NewTask task) throws SQLException {
        if (tasks.putIfAbsent(task.id(), task) != null) {
            throw new SQLException("task " + task.id() + " is there already", "23505");
        }
        remember(task.id(), new Before(task.state(), task.statusMs(), task.caller()));
        InRow inRow = task.inRow();
        session.defer(this, inRow == null ? 0 : inRow.events().length);
    }

    private void remember(String taskId, Before row) {
        if (row.state().isTerminal()) {
            remembered.remove(taskId);
        } else {
            remembered.put(taskId, row);
        }
    }

    @Override
    public @Nullable Before before(Session session, String taskId) throws SQLException {
        Before row = remembered.get(taskId);
        return row == null ? SqliteTaskRows.read(session, taskId) : row;
    }

    @Override
    public void move(Session session, Move move, Before before) throws SQLException {
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
                            earlier.turns() + move.turns()));
        } else {
            moves.put(move.taskId(), move);
        }
        remember(move.taskId(), new Before(move.state(), move.statusMs(), before.caller()));
        session.defer(this, 0);
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
                null);
    }

    @Override
    public void segment(Session session, SegmentRow segment) throws SQLException {
        segments.add(segment);
        session.defer(this, segment.events().length);
    }

    @Override
    public void message(Session session, MessageRow message) throws SQLException {
        messages.put(new MessageId(message.day(), message.lane(), message.messageId()), message);
        session.defer(this, 0);
    }

    @Override
    public void flush(Session session) throws SQLException {
        long stream = system.stream();
        if (!messages.isEmpty()) {
            var rows = List.copyOf(messages.values());
            messages.clear();
            try (var statement = new Columns(session, INSERT_MESSAGES)) {
                statement.add(stream);
                statement.add("integer", rows, MessageRow::day);
                statement.add("bigint", rows, MessageRow::lane);
                statement.add("text", rows, MessageRow::messageId);
                statement.add("text", rows, MessageRow::taskId);
                statement.add("bigint", rows, MessageRow::madeMs);
                statement.update();
            }
        }
        if (!tasks.isEmpty()) {
            var rows = List.copyOf(tasks.values());
            tasks.clear();
            insert(session, rows, stream);
        }
        if (!moves.isEmpty()) {
            var rows = List.copyOf(moves.values());
            moves.clear();
            update(session, rows, stream);
        }
        if (!segments.isEmpty()) {
            var rows = List.copyOf(segments);
            segments.clear();
            append(session, rows, stream);
        }
    }

    private static void insert(Session session, List<NewTask> rows, long stream) throws SQLException {
        try (var statement = new Columns(session, INSERT_TASKS)) {
            statement.add("text", rows, NewTask::id);
            statement.add("bigint", rows, NewTask::lane);
            statement.add("text", rows, NewTask::contextId);
            statement.add("integer", rows, row -> code(row.state()));
            statement.add("bigint", rows, NewTask::statusMs);
            statement.add("bigint", rows, NewTask::lastSequence);
            statement.add("text", rows, NewTask::caller);
            statement.add("text", rows, NewTask::trace);
            statement.add("integer", rows, NewTask::turns);
            statement.add("text", rows, NewTask::agents);
            statement.add(
                    "bigint",
                    rows,
                    row -> row.inRow() == null ? null : row.inRow().entry());
            statement.add(
                    "text",
                    rows,
                    row -> row.inRow() == null ? null : row.inRow().address());
            statement.add(
                    "text",
                    rows,
                    row -> row.inRow() == null ? null : row.inRow().salt());
            statement.add(
                    "bytea",
                    rows,
                    row -> row.inRow() == null ? null : row.inRow().events());
            statement.add(stream);
            statement.update();
        }
    }

    private static void update(Session session, List<Move> rows, long stream) throws SQLException {
        try (var statement = new Columns(session, UPDATE_TASKS)) {
            statement.add("text", rows, Move::taskId);
            statement.add("bigint", rows, Move::previousSequence);
            statement.add("integer", rows, row -> code(row.state()));
            statement.add("bigint", rows, Move::statusMs);
            statement.add("bigint", rows, Move::lastSequence);
            statement.add("integer", rows, Move::turns);
            statement.add(stream);
            int updated = statement.update();
            if (updated != rows.size()) {
                // As a violation of a constraint: each work then gets a transaction of its own, and the faulty ones
                // fail.
                throw new SQLException(
                        (rows.size() - updated) + " of " + rows.size()
                                + " tasks are gone, have other events or are run by another hub",
                        "23000");
            }
        }
    }

    private static void append(Session session, List<SegmentRow> rows, long stream) throws SQLException {
        try (var statement = new Columns(session, INSERT_SEGMENTS)) {
            statement.add(stream);
            statement.add("text", rows, SegmentRow::taskId);
            statement.add("bigint", rows, SegmentRow::firstSequence);
            statement.add("bytea", rows, SegmentRow::events);
            statement.add("bigint", rows, SegmentRow::entry);
            statement.add("integer", rows, row -> codeOf(row.state()));
            statement.add("integer", rows, row -> codeOf(row.previous()));
            statement.add("text", rows, SegmentRow::caller);
            statement.add("text", rows, SegmentRow::address);
            statement.add("text", rows, SegmentRow::salt);
            statement.add("text", rows, SegmentRow::trace);
            statement.add("text", rows, SegmentRow::agents);
            statement.update();
        }
    }

    private static @Nullable Integer codeOf(@Nullable TaskState state) {
        return state == null ? null : code(state);
    }

    @Override
    public void count(Session session, Map<Tally, Integer> changes) throws SQLException {
        List<Map.Entry<Tally, Integer>> rows = changes.entrySet().stream()
                .filter(change -> change.getValue() != 0)
                .sorted(Comparator.comparingLong((Map.Entry<Tally, Integer> change) ->
                                change.getKey().lane())
                        .thenComparingInt(change -> code(change.getKey().state())))
                .toList();
        if (rows.isEmpty()) {
            return;
        }
        try (var statement = new Columns(session, ADD_TO_TALLY)) {
            statement.add("bigint", rows, row -> row.getKey().lane());
            statement.add("integer", rows, row -> code(row.getKey().state()));
            statement.add("integer", rows, Map.Entry::getValue);
            statement.update();
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

    /** A statement whose parameters are the columns of its rows. */
    private static final class Columns implements AutoCloseable {
        private final PreparedStatement statement;
        private final List<Array> arrays = new ArrayList<>();
        private int parameters;

        Columns(Session session, String sql) throws SQLException {
            this.statement = session.bind(sql);
        }

        void add(long value) throws SQLException {
            statement.setLong(++parameters, value);
        }

        <T> void add(String type, List<T> rows, Function<T, @Nullable Object> value) throws SQLException {
            var values = new @Nullable Object[rows.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = value.apply(rows.get(i));
            }
            Array array = statement.getConnection().createArrayOf(type, typed(type, values));
            arrays.add(array);
            statement.setArray(++parameters, array);
        }

        /** The driver sends arrays of such types as they are, and others as text. */
        private static @Nullable Object[] typed(String type, @Nullable Object[] values) {
            return switch (type) {
                case "text" -> Arrays.copyOf(values, values.length, String[].class);
                case "bytea" -> Arrays.copyOf(values, values.length, byte[][].class);
                case "integer" -> {
                    var integers = new @Nullable Integer[values.length];
                    for (int i = 0; i < values.length; i++) {
                        integers[i] = values[i] instanceof Number number ? (Integer) number.intValue() : null;
                    }
                    yield integers;
                }
                default -> Arrays.copyOf(values, values.length, Long[].class);
            };
        }

        int update() throws SQLException {
            return statement.executeUpdate();
        }

        @Override
        public void close() throws SQLException {
            for (Array array : arrays) {
                array.free();
            }
        }
    }
}
