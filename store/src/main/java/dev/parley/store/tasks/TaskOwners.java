package dev.parley.store.tasks;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.shared.Epoch;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The small numbers that stand for a group, owner and agent in every row.
 *
 * <p>A number is never given twice, because a reader may still hold it when its row is gone: the row with the greatest
 * number, from which SQLite counts on, stays.
 */
public final class TaskOwners implements GroupListener {
    /** An owner and an agent. */
    record TaskOwner(Scope scope, String agent) {
        static TaskOwner of(TaskKey key) {
            return new TaskOwner(key.scope(), key.agent());
        }
    }

    /** Tables with rows of owners beside the tally. */
    private static final List<String> MOVED = List.of("task", "webhook", "message", "task_name");

    private final ConcurrentHashMap<TaskOwner, Long> numbers = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Long, TaskOwner> lanes = new ConcurrentHashMap<>();

    /** Numbers given in a group that is not committed yet; touched by the writer thread only. */
    private final Map<TaskOwner, Long> fresh = new HashMap<>();

    /** The same for those that are forgotten. */
    private final Map<TaskOwner, Long> forgotten = new HashMap<>();

    /** Numbers that another hub has given other names since this one had read them, with the earlier names; what was written there is moved. */
    private final Map<Long, TaskOwner> hidden = new ConcurrentHashMap<>();

    private final Database database;
    private final boolean isShared;

    /** @param once a claim if other hubs write to the database, too, and add lanes */
    public TaskOwners(Database database, Once once) {
        this.database = database;
        this.isShared = once == Once.CLAIM;
        database.listen(this);
        readAgain();
        database.access().epochs().keep(Epoch.ERASED_TASKS, this::takeHidden);
    }

    /** Reads the owners again, and moves what this hub has written for those that another one has hidden. */
    private void takeHidden() {
        Map<Long, TaskOwner> moved = database.erase(
                session -> { // in a group of its own: after all rows that were written by the names read before
                    reopened(session);
                    var all = Map.copyOf(hidden);
                    for (var each : all.entrySet()) {
                        move(session, each.getKey(), each.getValue());
                    }
                    return all;
                });
        hidden.keySet().removeAll(moved.keySet());
    }

    private void readAgain() {
        database.read(session -> {
            reopened(session);
            return List.of();
        });
    }

    @Override
    public void reopened(DatabaseSession session) throws SQLException {
        var read = new HashMap<Long, TaskOwner>();
        session.list(
                        row -> Map.entry(
                                row.getLong(1),
                                new TaskOwner(
                                        new Scope(DatabaseSession.text(row, 2), DatabaseSession.text(row, 3)),
                                        DatabaseSession.text(row, 4))),
                        "SELECT lane_no, group_id, owner, agent FROM lane")
                .forEach(row -> read.put(row.getKey(), row.getValue()));
        if (isShared) {
            lanes.forEach((number, lane) -> {
                TaskOwner now = read.getOrDefault(number, lane);
                if (!now.equals(lane)) {
                    hidden.put(number, lane);
                }
            });
        }
        lanes.keySet().retainAll(read.keySet());
        read.forEach((number, lane) -> know(lane, number));
        numbers.entrySet().removeIf(known -> !known.getKey().equals(read.get(known.getValue())));
    }

    private void know(TaskOwner lane, long number) {
        numbers.put(lane, number);
        lanes.put(number, lane);
    }

    /** Returns the number of a lane; null if nothing was ever written for it. */
    @Nullable
    Long find(TaskOwner lane) {
        Long known = numbers.get(lane);
        if (known == null && isShared) {
            known = database.read(session -> session.first(
                            row -> row.getLong(1),
                            "SELECT lane_no FROM lane WHERE group_id = ? AND owner = ? AND agent = ?",
                            lane.scope().group(),
                            lane.scope().owner(),
                            lane.agent()))
                    .orElse(null);
            if (known != null) {
                know(lane, known);
            }
        }
        return known;
    }

    /** Returns the lane of a number; null if its rows were removed while they were read. */
    @Nullable
    TaskOwner get(long number) {
        TaskOwner known = lanes.get(number);
        if (known == null && isShared) {
            known = database.read(session -> session.first(
                            row -> new TaskOwner(
                                    new Scope(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)),
                                    DatabaseSession.text(row, 3)),
                            "SELECT group_id, owner, agent FROM lane WHERE lane_no = ?",
                            number))
                    .orElse(null);
            if (known != null) {
                know(known, number);
            }
        }
        return known;
    }

    /** The numbers of the lanes of an owner. On the writer thread. */
    List<Long> of(DatabaseSession session, String group, String owner) throws SQLException {
        return session.list(
                rows -> rows.getLong(1), "SELECT lane_no FROM lane WHERE group_id = ? AND owner = ?", group, owner);
    }

    /** Returns the number of a lane, giving it one if need be. On the writer thread. */
    long number(DatabaseSession session, TaskOwner lane) throws SQLException {
        Long known = forgotten.containsKey(lane) ? null : numbers.get(lane);
        if (known == null) {
            known = fresh.get(lane);
        }
        if (known == null) {
            known = insert(session, lane);
            fresh.put(lane, known);
        }
        return known;
    }

    /** Removes a lane that has no rows any more; its number is not used again. On the writer thread. */
    void forget(DatabaseSession session, long number) throws SQLException {
        TaskOwner lane = lanes.get(number);
        if (lane == null) {
            return; // of this group, or forgotten already
        }
        if (session.update("DELETE FROM lane WHERE lane_no = ?1 AND lane_no < (SELECT max(lane_no) FROM lane)", number)
                == 0) {
            hide(session, number);
        }
        forgotten.put(lane, number);
    }

    /** Gives a lane without rows a name that nobody has; other hubs know the earlier one until they read the lanes again. On the writer thread. */
    void hide(DatabaseSession session, long number) throws SQLException {
        TaskOwner lane = lanes.get(number);
        if (lane != null) {
            String owner = anonymous(lane, number).scope().owner();
            session.update("UPDATE lane SET owner = ? WHERE lane_no = ?", owner, number);
            forgotten.put(lane, number);
        }
    }

    /** Moves the rows of a number that was hidden to one of the names that it had; false if there are none. On the writer thread. */
    boolean move(DatabaseSession session, long number, TaskOwner lane) throws SQLException {
        boolean isUsed = !isEmpty(session, "tally", number);
        for (String table : MOVED) {
            isUsed |= !isEmpty(session, table, number);
        }
        long next = isUsed ? number(session, lane) : number;
        if (next == number) {
            return false; // not hidden, or not used
        }
        session.update(
                "DELETE FROM message AS old WHERE lane_no = ?1 AND EXISTS (SELECT 1 FROM message AS newer WHERE newer.day = old.day"
                        + " AND newer.lane_no = ?2 AND newer.message_id = old.message_id)",
                number,
                next);
        session.update(
                "DELETE FROM task_name AS old WHERE lane_no = ?1 AND EXISTS (SELECT 1 FROM task_name AS newer WHERE newer.lane_no = ?2"
                        + " AND newer.name = old.name)",
                number,
                next);
        session.update(
                "INSERT INTO tally (lane_no, state, hub_slot, tasks) SELECT ?2, state, hub_slot, tasks FROM tally WHERE lane_no = ?1"
                        + " ON CONFLICT (lane_no, state, hub_slot) DO UPDATE SET tasks = tally.tasks + excluded.tasks",
                number,
                next);
        session.update("DELETE FROM tally WHERE lane_no = ?", number);
        for (String table : MOVED) {
            session.update("UPDATE " + table + " SET lane_no = ? WHERE lane_no = ?", next, number);
        }
        return true;
    }

    /** Whether a table has no rows of an owner. */
    static boolean isEmpty(DatabaseSession session, String table, long lane) throws SQLException {
        return session.number(
                        "SELECT count(*) FROM (SELECT 1 FROM " + table + " WHERE lane_no = ? LIMIT 1) AS any_row", lane)
                == 0;
    }

    private static TaskOwner anonymous(TaskOwner lane, long number) {
        String owner = AuditChain.hashed(lane.scope().owner()) + "#" + number;
        return new TaskOwner(new Scope(lane.scope().group(), owner), lane.agent());
    }

    /** Adds a lane, unless another hub has. */
    private static long insert(DatabaseSession session, TaskOwner lane) throws SQLException {
        @Nullable Object[] key = {lane.scope().group(), lane.scope().owner(), lane.agent()};
        try (ResultSet row = session.bind(
                        "INSERT INTO lane (group_id, owner, agent) VALUES (?, ?, ?)"
                                + " ON CONFLICT (group_id, owner, agent) DO NOTHING RETURNING lane_no",
                        key)
                .executeQuery()) {
            if (row.next()) {
                return row.getLong(1);
            }
        }
        return session.number("SELECT lane_no FROM lane WHERE group_id = ? AND owner = ? AND agent = ?", key);
    }

    @Override
    public void committed(int works) {
        forgotten.forEach((lane, number) -> {
            numbers.remove(lane, number);
            lanes.remove(number);
        });
        forgotten.clear();
        fresh.forEach(this::know);
        fresh.clear();
    }

    @Override
    public void rolledBack() {
        forgotten.clear();
        fresh.clear();
    }
}
