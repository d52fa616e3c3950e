package dev.parley.store.tasks;

import static dev.parley.store.audit.States.code;
import static dev.parley.store.audit.States.shown;

import dev.parley.engine.spi.TaskLog.Count;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Listed;
import dev.parley.engine.spi.TaskLog.Position;
import dev.parley.engine.spi.TaskLog.Selection;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.FairPool;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.tasks.TaskLists.Conditions;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Walks over the tasks of many lanes, and counts of them. The lanes with the newest statuses are found by one look into an index for each;
 * then only the lanes whose turn comes are read, a few rows at a time, and merged. Safe for any thread.
 */
record TaskWalks(Database database, TaskOwners lanes) {
    /** TaskOwners that are merged at once; after the oldest status of these, the next ones are looked for. */
    static final int LANES_AT_ONCE = 1_000;

    private static final int FIRST_ROWS = 8;
    private static final int MOST_ROWS = 256;

    private static final Comparator<Position> NEWEST_FIRST = Comparator.comparing(Position::statusTime)
            .thenComparing(Position::taskId)
            .reversed();

    /** A lane, and the time of its newest task, of one state or of all. */
    private record Newest(long number, @Nullable TaskState state, Instant time) {}

    /** The tasks of a lane, of one state or of all, which are read as they are needed. */
    private static final class Run {
        private final long number;
        private final TaskOwner lane;
        private final @Nullable TaskState state;
        /** Time of its newest task, before it is read. */
        private final Instant newest;

        private final ArrayDeque<Listed> rows = new ArrayDeque<>();
        private int next = FIRST_ROWS;
        private boolean isEnded;

        Run(long number, TaskOwner lane, @Nullable TaskState state, Instant newest) {
            this.number = number;
            this.lane = lane;
            this.state = state;
            this.newest = newest;
        }

        /** Place of its next task; of one that is not read yet, one before all tasks of that time. */
        Position place() {
            Listed first = rows.peekFirst();
            return first == null ? new Position(newest, "\uffff") : position(first);
        }
    }

    private static Position position(Listed task) {
        return new Position(task.head().statusTime(), task.head().key().taskId());
    }

    void walk(Selection selection, BiPredicate<Scope, String> visible, Predicate<Listed> visitor) {
        Map<TaskOwner, Boolean> visited = new HashMap<>();
        Selection rest = selection;
        int most = LANES_AT_ONCE;
        while (FairPool.checkpoint()) {
            List<Newest> newest = newest(rest, most);
            boolean isCut = newest.size() >= most;
            Instant floor = isCut ? newest.getLast().time : Instant.MIN;
            var runs = new PriorityQueue<>(Comparator.comparing(Run::place, NEWEST_FIRST));
            for (Newest each : newest) {
                TaskOwner lane = lanes.get(each.number);
                // A lane may have been removed since it was read.
                if (lane != null && visited.computeIfAbsent(lane, any -> visible.test(any.scope(), any.agent()))) {
                    runs.add(new Run(each.number, lane, each.state, each.time));
                }
            }
            boolean isOfOneTime = isCut && newest.getFirst().time.equals(floor);
            if (isOfOneTime || isCut && runs.size() < most / 2) {
                most *= 8; // else lanes that are not visited would be found again after each floor
                continue;
            }
            Position last = merge(runs, floor, rest, visitor);
            if (last == null || !isCut) {
                return;
            }
            rest = selection.after(last);
        }
    }

    /** Visits tasks down to a time, and returns the position after which the walk goes on; null at its end. */
    private @Nullable Position merge(
            PriorityQueue<Run> runs, Instant floor, Selection selection, Predicate<Listed> visitor) {
        for (Run run = runs.poll(); run != null; run = runs.poll()) {
            if (!run.place().statusTime().isAfter(floor)) {
                break;
            }
            if (!FairPool.checkpoint()) {
                return null;
            }
            Listed task = run.rows.pollFirst();
            if (task != null && !visitor.test(task)) {
                return null;
            }
            if (run.rows.isEmpty() && !run.isEnded) {
                read(run, task == null ? selection : selection.after(position(task)));
            }
            if (!run.rows.isEmpty()) {
                runs.add(run);
            }
        }
        // After all tasks that are newer than the floor, and before those of its time.
        return floor.equals(Instant.MIN) ? null : new Position(floor, "\uffff");
    }

    /** The lanes of a selection with the newest tasks, the newest first. */
    private List<Newest> newest(Selection selection, int most) {
        var newest = new ArrayList<Newest>();
        if (selection.states().isEmpty()) {
            newest.addAll(newest(selection, null, most));
        }
        for (TaskState state : selection.states()) {
            newest.addAll(newest(selection, state, most));
        }
        newest.sort(Comparator.comparing(Newest::time).reversed());
        return newest.size() > most ? newest.subList(0, most) : newest;
    }

    private List<Newest> newest(Selection selection, @Nullable TaskState state, int most) {
        var tasks = new Conditions();
        tasks.and("task.lane_no = lane.lane_no");
        tasks.andIf("status_ms <= ?", latest(selection));
        narrow(tasks, selection, state);
        var owners = new Conditions();
        owners.andIf("group_id = ?", selection.group());
        andOwners(owners, selection.owners());
        owners.andIf("agent = ?", selection.agent());
        var values = new ArrayList<@Nullable Object>(tasks.values);
        values.addAll(owners.values);
        values.add(most);
        // Materialized: SQLite would else look into each lane twice, for the condition and for the column.
        return database.read(session -> session.list(
                row -> new Newest(row.getLong(1), state, Instant.ofEpochMilli(row.getLong(2))),
                "WITH lanes AS MATERIALIZED (SELECT lane_no, (SELECT status_ms FROM task" + tasks.sql
                        + " ORDER BY status_ms DESC LIMIT 1) AS newest FROM lane" + owners.sql
                        + ") SELECT lane_no, newest FROM lanes WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT ?",
                values.toArray()));
    }

    private static void andOwners(Conditions where, Set<String> owners) {
        if (!owners.isEmpty()) {
            where.and(
                    "owner IN (" + String.join(", ", Collections.nCopies(owners.size(), "?")) + ")", owners.toArray());
        }
    }

    /** Latest time of a status that the rest of a walk may have; null for any. */
    private static @Nullable Instant latest(Selection selection) {
        Position before = selection.before();
        Instant until = selection.until();
        return before == null || until != null && until.isBefore(before.statusTime()) ? until : before.statusTime();
    }

    private static void narrow(Conditions tasks, Selection selection, @Nullable TaskState state) {
        if (state != null) {
            // The index by state has no completed task, and SQLite uses it only if the statement excludes them.
            tasks.and(state == TaskState.COMPLETED ? "state = 3" : "state = " + code(state) + " AND state <> 3");
        }
        tasks.andIf("context_id = ?", selection.contextId());
        tasks.andIf("status_ms >= ?", selection.since());
    }

    private void read(Run run, Selection selection) {
        var where = new Conditions();
        where.and("lane_no = ?", run.number);
        narrow(where, selection, run.state);
        where.andIf("status_ms <= ?", latest(selection));
        Position before = selection.before();
        if (before != null) {
            where.and("(status_ms, task_id) < (?, ?)", before.statusTime(), before.taskId());
        }
        where.values.add(run.next);
        List<Listed> rows = database.read(session -> rows(session, run.lane, where));
        run.rows.addAll(rows);
        run.isEnded = rows.size() < run.next;
        run.next = Math.min(MOST_ROWS, run.next * 4);
    }

    private static List<Listed> rows(DatabaseSession session, TaskOwner lane, Conditions where) throws SQLException {
        return session.list(
                row -> new Listed(
                        new Head(
                                new TaskKey(lane.scope(), lane.agent(), DatabaseSession.text(row, 1)),
                                DatabaseSession.text(row, 2),
                                shown(row.getInt(3)),
                                Instant.ofEpochMilli(row.getLong(4)),
                                row.getLong(5)),
                        DatabaseSession.text(row, 6)),
                "SELECT task_id, context_id, state, status_ms, last_seq, caller FROM task" + where.sql
                        + " ORDER BY status_ms DESC, task_id DESC LIMIT ?",
                where.values.toArray());
    }

    List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit) {
        var where = new Conditions();
        where.andIf("group_id = ?", group);
        andOwners(where, owners);
        where.andIf("agent = ?", agent);
        where.values.add(limit);
        return database.read(session -> session.list(
                row -> new Count(
                        new Scope(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)),
                        DatabaseSession.text(row, 3),
                        shown(row.getInt(4)),
                        row.getLong(5)),
                "SELECT group_id, owner, agent, state, sum(tasks) FROM lane JOIN tally ON tally.lane_no = lane.lane_no"
                        + where.sql
                        + " GROUP BY group_id, owner, agent, state HAVING sum(tasks) > 0 ORDER BY sum(tasks) DESC LIMIT ?",
                where.values.toArray()));
    }
}
