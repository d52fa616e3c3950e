package dev.parley.store.tasks;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseRead;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import dev.parley.store.tasks.TaskRows.Tally;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Removal of owners without tasks, with their keys, and of rows that lead to no task. Safe for any thread. */
final class TaskOwnerRemoval {
    private static final int MESSAGES_REMOVED_AT_ONCE = 200;

    private final Database database;
    private final TaskOwners lanes;
    private final boolean isShared;
    /** Changes of the tally by the current group; for the writer thread only. */
    private final Map<Tally, Integer> changes;

    TaskOwnerRemoval(Database database, TaskOwners lanes, Map<Tally, Integer> changes) {
        this.database = database;
        this.lanes = lanes;
        this.changes = changes;
        this.isShared = database.system() instanceof PostgresqlSystem postgresql && postgresql.isAtOnce();
    }

    /** @param erased whether it leaves no trace in the files, and is written after all that was submitted before */
    private <T> T write(int rows, boolean erased, DatabaseRead<T> change) {
        return erased ? database.erase(change) : database.write(rows, change);
    }

    /**
     * Forgets the lanes that have neither tasks nor webhooks, with what they left behind: keys that lead to no task any more. In transactions
     * of few rows each. Keys that a crash leaves are removed by their day.
     */
    void forgetIfEmpty(Set<Long> lanes, boolean erased) {
        if (isShared) {
            if (erased) { // else other hubs may be about to use it, and a lane has no more than its names
                forgetShared(lanes);
            }
            return;
        }
        for (long lane : lanes) {
            boolean done;
            do {
                done = write(MESSAGES_REMOVED_AT_ONCE, erased, session -> tryForget(session, lane));
            } while (!done);
        }
    }

    /**
     * Forgets the names of owners that all hubs know. What another hub writes to one of them until it has read the owners again gets a new
     * number of these names: that hub moves it when it reads them, and this one moves what a hub that has ended since left there.
     */
    private void forgetShared(Set<Long> numbers) {
        Epochs epochs = database.access().epochs();
        var known = new TreeMap<Long, TaskOwner>();
        var hidden = new AtomicLong();
        for (long number : numbers) {
            TaskOwner lane = lanes.get(number);
            if (lane != null) {
                known.put(number, lane);
                boolean done;
                do {
                    done = write(MESSAGES_REMOVED_AT_ONCE, true, session -> {
                        boolean isRest = tryForget(session, number);
                        if (isRest) { // with the new name: other hubs learn of it even if this one ends here
                            hidden.set(epochs.bump(session, Epoch.ERASED_TASKS));
                        }
                        return isRest;
                    });
                } while (!done);
            }
        }
        if (!known.isEmpty()) {
            epochs.barrier(Epoch.ERASED_TASKS, hidden.get());
            known.forEach((number, lane) -> database.erase(session -> lanes.move(session, number, lane)));
        }
    }

    /** Forgets a lane if it is empty; false if it has more keys than are removed at once. */
    private boolean tryForget(DatabaseSession session, long lane) throws SQLException {
        if (!TaskOwners.isEmpty(session, "task", lane) || !TaskOwners.isEmpty(session, "webhook", lane)) {
            return true;
        }
        for (long day : days(session)) {
            int removed = session.update(
                    "DELETE FROM message WHERE day = ?1 AND lane_no = ?2 AND message_id IN"
                            + " (SELECT message_id FROM message WHERE day = ?1 AND lane_no = ?2 LIMIT ?3)",
                    day,
                    lane,
                    MESSAGES_REMOVED_AT_ONCE);
            if (removed == MESSAGES_REMOVED_AT_ONCE) {
                return false;
            }
        }
        int names = session.update(
                "DELETE FROM task_name WHERE lane_no = ?1 AND name IN (SELECT name FROM task_name WHERE lane_no = ?1"
                        + " LIMIT ?2)",
                lane,
                MESSAGES_REMOVED_AT_ONCE);
        if (names == MESSAGES_REMOVED_AT_ONCE) {
            return false;
        }
        changes.keySet().removeIf(tally -> tally.lane() == lane);
        session.update("DELETE FROM tally WHERE lane_no = ?", lane);
        if (isShared) {
            lanes.hide(session, lane);
        } else {
            lanes.forget(session, lane);
        }
        return true;
    }

    private static List<Long> days(DatabaseSession session) throws SQLException {
        return session.list(rows -> rows.getLong(1), TaskKeys.DAYS_OF_MESSAGES);
    }

    /**
     * Erases the keys of a lane that satisfy a condition. They are searched beside the writer, because no index leads to them.
     *
     * @param condition on the rows, beside their lane
     */
    void eraseMessages(long lane, String condition, Object... values) {
        for (long day : database.read(TaskOwnerRemoval::days)) {
            var all = new ArrayList<@Nullable Object>(List.of(day, lane));
            all.addAll(List.of(values));
            List<String> keys = database.read(session -> session.list(
                    rows -> DatabaseSession.text(rows, 1),
                    "SELECT message_id FROM message WHERE day = ? AND lane_no = ?" + condition,
                    all.toArray()));
            database.writeInSlices(
                    keys,
                    true,
                    (session, key) -> session.update(
                            "DELETE FROM message WHERE day = ? AND lane_no = ? AND message_id = ?", day, lane, key));
        }
    }

    /** Erases rows of a lane that lead to no task. They are searched beside the writer. */
    private void eraseOrphans(String table, String key, long lane, String condition) {
        record Orphan(String taskId, String key) {}
        List<Orphan> orphans = database.read(session -> session.list(
                rows -> new Orphan(DatabaseSession.text(rows, 1), DatabaseSession.text(rows, 2)),
                "SELECT task_id, " + key + " FROM " + table + " WHERE lane_no = ?" + condition,
                lane));
        database.writeInSlices(orphans, true, (session, orphan) -> {
            String where = "lane_no = ? AND task_id = ? AND " + key + " = ?" + condition;
            if (table.equals("webhook")) {
                JdbcPushStore.count(database, session, -1, "webhook." + where, lane, orphan.taskId, orphan.key);
            }
            return session.update("DELETE FROM " + table + " WHERE " + where, lane, orphan.taskId, orphan.key);
        });
    }

    void forget(String group, String principal) {
        String orphaned = " AND NOT EXISTS (SELECT 1 FROM task WHERE task.task_id = %s.task_id)";
        List<Long> owned = database.erase(session -> lanes.of(session, group, principal));
        for (long lane : owned) {
            eraseOrphans("webhook", "config_id", lane, orphaned.formatted("webhook"));
            eraseOrphans("task_name", "name", lane, orphaned.formatted("task_name"));
            eraseMessages(lane, orphaned.formatted("message"));
        }
        forgetIfEmpty(new TreeSet<>(owned), true);
    }
}
