package dev.parley.store.tasks;

import static dev.parley.store.audit.States.code;
import static dev.parley.store.audit.States.state;

import dev.parley.dialect.Json;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Page;
import dev.parley.engine.spi.TaskLog.Position;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.TaskFilter;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Lists of tasks by their lanes, contexts, states and times. Safe for any thread. */
record TaskLists(Database database, TaskOwners lanes) {
    List<Head> about(Subject subject, @Nullable String after, int limit) {
        String principal = subject.principal();
        var where = new Conditions();
        where.and("group_id = ?", subject.group());
        if (principal != null) {
            where.and("(lane.owner = ? OR caller = ?)", principal, principal);
        }
        where.andIf("context_id = ?", subject.contextId());
        where.andIf("task_id > ?", after);
        return all(where, "task_id", limit);
    }

    /** Conditions on tasks and their lanes. */
    static final class Conditions {
        final StringBuilder sql = new StringBuilder();
        final List<@Nullable Object> values = new ArrayList<>();

        void and(String condition, Object... parameters) {
            sql.append(sql.isEmpty() ? " WHERE " : " AND ").append(condition);
            values.addAll(List.of(parameters));
        }

        void andIf(String condition, @Nullable Object parameter) {
            if (parameter != null) {
                and(condition, parameter);
            }
        }
    }

    private List<Head> all(Conditions where, String order, int limit) {
        where.values.add(limit);
        return database.read(session -> heads(
                session,
                "SELECT task.lane_no, task_id, context_id, state, status_ms, last_seq FROM task"
                        + " JOIN lane ON lane.lane_no = task.lane_no" + where.sql + " ORDER BY " + order + " LIMIT ?",
                where.values.toArray()));
    }

    List<String> agents(int limit) {
        return database.read(session -> session.list(
                rows -> DatabaseSession.text(rows, 1),
                "SELECT DISTINCT agent FROM lane ORDER BY agent LIMIT ?",
                limit));
    }

    /** Lists tasks of all groups and agents. */
    List<Head> newest(TaskFilter filter) {
        TaskState state = filter.state();
        var where = new Conditions();
        where.andIf("group_id = ?", filter.group());
        where.andIf("agent = ?", filter.agent());
        where.andIf("context_id = ?", filter.contextId());
        where.andIf("state = ?", state == null ? null : code(state));
        where.andIf("status_ms >= ?", filter.statusSince());
        where.andIf("task_id < ?", filter.before());
        return all(where, "task_id DESC", filter.limit());
    }

    Optional<Head> find(TaskKey key) {
        Long lane = lanes.find(TaskOwner.of(key));
        if (lane == null) {
            return Optional.empty();
        }
        return database.read(session -> heads(
                        session,
                        "SELECT lane_no, task_id, context_id, state, status_ms, last_seq FROM task"
                                + " WHERE task_id = ? AND lane_no = ?",
                        key.taskId(),
                        lane)
                .stream()
                .findFirst());
    }

    /** The caller that began a task. */
    Optional<Cause> cause(TaskKey key) {
        Long lane = lanes.find(TaskOwner.of(key));
        return lane == null
                ? Optional.empty()
                : database.read(session -> session.first(
                        row -> new Cause(
                                DatabaseSession.text(row, 1),
                                "",
                                DatabaseSession.text(row, 2),
                                CallChain.read(DatabaseSession.text(row, 3))),
                        "SELECT caller, trace, agents FROM task WHERE task_id = ? AND lane_no = ?",
                        key.taskId(),
                        lane));
    }

    /** Number of messages that the tasks of a context answer for. */
    int turns(Scope scope, String agent, String contextId) {
        Long lane = lanes.find(new TaskOwner(scope, agent));
        return lane == null
                ? 0
                : database.read(session -> Math.toIntExact(session.number(
                        "SELECT coalesce(sum(turns), 0) FROM task WHERE lane_no = ? AND context_id = ?",
                        lane,
                        contextId)));
    }

    /** Of some tasks those whose newest events have other numbers, or that are gone. */
    List<TaskKey> changed(Map<TaskKey, Long> known) {
        String ids = new String(
                Json.write(known.keySet().stream().map(TaskKey::taskId).toList()), StandardCharsets.UTF_8);
        var found = new HashMap<String, Long>();
        database.read(session -> session.list(
                row -> found.put(DatabaseSession.text(row, 1), row.getLong(2)),
                "SELECT task_id, last_seq FROM task WHERE task_id"
                        + database.system().isOneOf(),
                ids));
        return known.entrySet().stream()
                .filter(task -> !task.getValue().equals(found.get(task.getKey().taskId())))
                .map(Map.Entry::getKey)
                .toList();
    }

    Optional<Head> find(String group, String taskId) {
        return database
                .read(session -> heads(
                        session,
                        "SELECT lane_no, task_id, context_id, state, status_ms, last_seq FROM task WHERE task_id = ?",
                        taskId))
                .stream()
                .filter(head -> head.key().scope().group().equals(group))
                .findFirst();
    }

    List<Head> inTrace(@Nullable String group, String trace, int limit) {
        String begun = "SELECT lane_no, task_id, context_id, state, status_ms, last_seq FROM task"
                + " WHERE trace IS NOT NULL AND substr(trace, 4, 32) = ?";
        String order = " ORDER BY task_id LIMIT ?";
        if (group == null) {
            return database.read(session -> heads(session, begun + order, trace, limit));
        }
        String ofGroup = " AND lane_no IN (SELECT lane_no FROM lane WHERE group_id = ?)";
        return database.read(session -> heads(session, begun + ofGroup + order, trace, group, limit));
    }

    private List<Head> heads(DatabaseSession session, String sql, @Nullable Object... values) throws SQLException {
        var heads = new ArrayList<Head>();
        try (ResultSet rows = session.bind(sql, values).executeQuery()) {
            while (rows.next()) {
                TaskOwner lane = lanes.get(rows.getLong(1));
                if (lane == null) {
                    continue; // removed while it was read
                }
                heads.add(new Head(
                        new TaskKey(lane.scope(), lane.agent(), DatabaseSession.text(rows, 2)),
                        DatabaseSession.text(rows, 3),
                        state(rows.getInt(4)),
                        Instant.ofEpochMilli(rows.getLong(5)),
                        rows.getLong(6)));
            }
        }
        return heads;
    }

    Page list(Query query) {
        var where = new Conditions();
        if (query.owner() == null) {
            where.and(
                    "lane_no IN (SELECT lane_no FROM lane WHERE group_id = ? AND agent = ?)",
                    query.group(),
                    query.agent());
        } else {
            Long lane = lanes.find(new TaskOwner(new Scope(query.group(), query.owner()), query.agent()));
            if (lane == null) {
                return new Page(List.of(), 0);
            }
            where.and("lane_no = ?", lane);
        }
        Object[] inLanes = where.values.toArray();
        String tally = "SELECT coalesce(sum(tasks), 0) FROM tally" + where.sql;
        if (query.state() != null) {
            // The index by state has no completed task, and SQLite uses it only if the statement excludes them.
            where.and(
                    query.state() == TaskState.COMPLETED ? "state = ?" : "state = ? AND state <> 3",
                    code(query.state()));
        }
        where.andIf("context_id = ?", query.contextId());
        where.andIf("status_ms >= ?", query.statusSince());
        return database.read(session -> {
            long total = query.contextId() == null && query.statusSince() == null
                    ? tallied(session, tally, inLanes, query.state())
                    : session.number("SELECT count(*) FROM task" + where.sql, where.values.toArray());
            Position before = query.before();
            if (before != null) {
                where.and("(status_ms, task_id) < (?, ?)", before.statusTime(), before.taskId());
            }
            where.values.add(query.limit());
            List<Head> heads = heads(
                    session,
                    "SELECT lane_no, task_id, context_id, state, status_ms, last_seq FROM task" + where.sql
                            + " ORDER BY status_ms DESC, task_id DESC LIMIT ?",
                    where.values.toArray());
            return new Page(heads, Math.toIntExact(total));
        });
    }

    private static long tallied(DatabaseSession session, String tally, Object[] lanes, @Nullable TaskState state)
            throws SQLException {
        return state == null
                ? session.number(tally, lanes)
                : session.number(tally + " AND state = " + code(state), lanes);
    }

    List<Head> unfinished() {
        return database.read(session -> heads(
                session,
                "SELECT lane_no, task_id, context_id, state, status_ms, last_seq FROM task WHERE state IN (0, 1, 2)"));
    }

    /** Times at which the events of a task were written, by the first number. */
    NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit) {
        Long lane = lanes.find(TaskOwner.of(key));
        var times = new TreeMap<Long, Instant>();
        if (lane != null) {
            database.read(session -> session.list(
                            row -> Map.entry(row.getLong(1), row.getLong(2)),
                            "SELECT first_seq, at_ms FROM segment WHERE task_id = ?1 AND first_seq >="
                                    + " coalesce((SELECT max(first_seq) FROM segment WHERE task_id = ?1 AND first_seq <= ?2), 0)"
                                    + " AND at_ms IS NOT NULL AND EXISTS (SELECT 1 FROM task WHERE task_id = ?1 AND lane_no = ?3)"
                                    + " ORDER BY first_seq LIMIT ?4",
                            key.taskId(),
                            sequence,
                            lane,
                            limit))
                    .forEach(row -> times.put(row.getKey(), Instant.ofEpochMilli(row.getValue())));
        }
        return times;
    }

    /** The unfinished tasks of the stream of this hub. Waits for its commits, also for one whose connection has been cut. */
    List<Head> unfinished(long stream) {
        return database.write(session -> heads(
                session,
                "SELECT lane_no, task_id, context_id, state, status_ms, last_seq FROM task WHERE owner = ?",
                stream));
    }
}
