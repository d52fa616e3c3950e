package dev.parley.store.tasks;

import static dev.parley.store.audit.States.state;

import dev.parley.dialect.Json;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.support.Ids;
import dev.parley.store.audit.KeptEntries;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseRead;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.tasks.TaskRows.Tally;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Removal of tasks with their segments, webhooks, names and keys, in transactions of a few milliseconds. Safe for any thread. */
final class TaskRemoval {
    /** TaskOwner of tasks during a long removal. No lane has this number. */
    private static final long REMOVED_LANE = 0;

    private static final int REMOVED_AT_ONCE = 100;
    private static final int SEGMENTS_AT_ONCE = 8;

    // Of tasks that are removed together, so that their transaction takes a few milliseconds, too.
    private static final int SEGMENTS_TOGETHER = 200;
    private static final long BYTES_TOGETHER = 1 << 20;

    /** Time that a webhook with undelivered events delays the removal of its task. */
    private static final long UNTOLD_MS = TimeUnit.DAYS.toMillis(1);

    /** Ids of ours begin with a hexadecimal digit. */
    private static final String BEHIND_OUR_IDS = "g";

    private static final String LAST_ID = "\uffff";

    private static final String COUNTED =
            "task.lane_no, state, group_id, CASE WHEN events IS NULL THEN bytes ELSE length(events) END";

    private final Database database;
    private final TaskOwnerRemoval laneRemoval;
    private final boolean isShared;
    /** Changes of the tally by the current group; for the writer thread only. */
    private final Map<Tally, Integer> changes;

    TaskRemoval(Database database, TaskOwners lanes, Map<Tally, Integer> changes) {
        this.database = database;
        this.changes = changes;
        this.isShared = database.system() instanceof PostgresqlSystem postgresql && postgresql.isAtOnce();
        this.laneRemoval = new TaskOwnerRemoval(database, lanes, changes);
    }

    int removeEnded(Instant before, int limit) {
        // A task that ended by then began by then, so ids, which begin with their time, bound the search; no index by
        // the time of the end has to be kept. Foreign ids sort after all of ours.
        List<String> tasks = ended("", Ids.earliest(before), before, limit);
        if (tasks.size() < limit) {
            tasks.addAll(ended(BEHIND_OUR_IDS, LAST_ID, before, limit - tasks.size()));
        }
        Removed removed = removeAll(tasks, false);
        laneRemoval.forgetIfEmpty(removed.lanes, false);
        return removed.tasks;
    }

    /**
     * Tasks in a range of ids that ended before {@code before}. A webhook with undelivered events, or one that was given
     * up since, keeps it for {@link #UNTOLD_MS} at most.
     */
    private List<String> ended(String from, String to, Instant before, int limit) {
        long millis = before.toEpochMilli();
        return database.read(session -> session.list(
                rows -> DatabaseSession.text(rows, 1),
                "SELECT task_id FROM task WHERE task_id >= ?1 AND task_id < ?2"
                        + " AND state IN (3, 4, 5, 7) AND status_ms < ?3"
                        + " AND (status_ms < ?4 OR NOT EXISTS (SELECT 1 FROM webhook"
                        + " WHERE webhook.task_id = task.task_id"
                        + " AND (dead_ms IS NULL AND delivered < last_seq OR dead_ms >= ?3)))"
                        + " ORDER BY task_id LIMIT ?5",
                from,
                to,
                millis,
                millis - UNTOLD_MS,
                limit));
    }

    /** @param lanes of the tasks, of which some may be empty now */
    private record Removed(int tasks, Set<Long> lanes) {}

    /** Removes tasks, and forgets the lanes that are empty then, in transactions of a few milliseconds: the writer has others to serve. */
    private Removed removeAll(List<String> tasks, boolean erased) {
        int removed = 0;
        var lanes = new TreeSet<Long>();
        while (removed < tasks.size()) {
            List<String> left = tasks.subList(removed, Math.min(tasks.size(), removed + REMOVED_AT_ONCE));
            Removed some = write(left.size(), erased, session -> removeSome(session, left, erased));
            removed += some.tasks;
            lanes.addAll(some.lanes);
        }
        return new Removed(removed, lanes);
    }

    /** @param erased whether it leaves no trace in the files, and is written after all that was submitted before */
    private <T> T write(int rows, boolean erased, DatabaseRead<T> change) {
        return erased ? database.erase(change) : database.write(rows, change);
    }

    /** Removes the first of these tasks, as many as a short while allows. */
    private Removed removeSome(DatabaseSession session, List<String> tasks, boolean erased) throws SQLException {
        long end = System.nanoTime() + Database.SLICE_NANOS;
        var touched = new TreeSet<Long>();
        int removed = erased || database.kind() == DatabaseKind.SQLITE ? 0 : removeTogether(session, tasks, touched);
        if (removed > 0) {
            return new Removed(removed, touched);
        }
        while (removed < tasks.size()
                && System.nanoTime() - end < 0
                && remove(session, tasks.get(removed), touched, end, erased)) {
            removed++;
        }
        return new Removed(removed, touched);
    }

    /** @param segments at most one more than {@link #SEGMENTS_AT_ONCE} */
    private record Small(String id, Counted counted, int segments) {}

    /**
     * Removes the first of these tasks that are small, by one statement for each table instead of some for each task, which are round trips
     * to a server. Those that another hub removes count, too.
     *
     * @return how many; 0 if the first one is not small, or is counted no more
     */
    private int removeTogether(DatabaseSession session, List<String> tasks, Set<Long> touched) throws SQLException {
        Map<String, Small> found = small(session, tasks);
        var together = new ArrayList<Small>();
        int segments = 0;
        long bytes = 0;
        int done = 0;
        while (done < tasks.size()) {
            Small next = found.get(tasks.get(done));
            if (next != null) {
                segments += next.segments;
                bytes += next.counted.bytes;
                boolean isFirst = together.isEmpty();
                if (next.counted.tally.lane() == REMOVED_LANE
                        || next.segments > SEGMENTS_AT_ONCE
                        || !isFirst && (segments > SEGMENTS_TOGETHER || bytes > BYTES_TOGETHER)) {
                    break;
                }
                together.add(next);
            }
            done++;
        }
        if (!together.isEmpty()) {
            removeSmall(session, together, touched);
        }
        return done;
    }

    private Map<String, Small> small(DatabaseSession session, List<String> tasks) throws SQLException {
        var found = new HashMap<String, Small>();
        session.list(
                row -> found.put(
                        DatabaseSession.text(row, 1),
                        new Small(DatabaseSession.text(row, 1), counted(row, 2), row.getInt(6))),
                "SELECT task_id, " + COUNTED + ", (SELECT count(*) FROM (SELECT 1 FROM segment"
                        + " WHERE segment.task_id = task.task_id LIMIT " + (SEGMENTS_AT_ONCE + 1) + ") AS few)"
                        + " FROM task LEFT JOIN lane ON lane.lane_no = task.lane_no" + " WHERE " + ofTasks()
                        + (isShared ? " FOR UPDATE OF task SKIP LOCKED" : ""),
                listed(tasks));
        return found;
    }

    private void removeSmall(DatabaseSession session, List<Small> tasks, Set<Long> touched) throws SQLException {
        List<String> ids = tasks.stream().map(Small::id).toList();
        String list = listed(ids);
        KeptEntries.keep(session, database.system(), ids);
        JdbcPushStore.count(database, session, -1, ofTasks(), list);
        for (String table : List.of("webhook", "task_name", "segment", "task")) {
            session.update("DELETE FROM " + table + " WHERE " + ofTasks(), list);
        }
        tasks.forEach(task -> uncount(task.counted, touched));
    }

    /** A condition on rows, whose parameter is {@link #listed}. */
    private String ofTasks() {
        return "task_id" + database.system().isOneOf();
    }

    private static String listed(List<String> tasks) {
        return new String(Json.write(tasks), StandardCharsets.UTF_8);
    }

    private void uncount(Counted task, Set<Long> touched) {
        touched.add(task.tally.lane());
        changes.merge(task.tally, -1, Integer::sum);
        database.storage().add(task.group, Kind.TASKS, -task.bytes);
    }

    /**
     * Removes a task; false if time ran out, and its other rows are left for the next call. Meanwhile it is hidden, unless it is erased: a
     * crash must not keep it from being found and erased again.
     */
    private boolean remove(DatabaseSession session, String id, Set<Long> touched, long end, boolean erased)
            throws SQLException {
        if (isShared && isOthers(session, id, erased)) {
            return true;
        }
        KeptEntries.keep(session, database.system(), List.of(id));
        removeAround(session, id);
        boolean more = removeSegments(session, id);
        while (more && erased) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            more = removeSegments(session, id);
        }
        Counted task = counted(session, id);
        if (task != null) {
            uncount(task, touched);
            if (more) {
                session.update("UPDATE task SET lane_no = ? WHERE task_id = ?", REMOVED_LANE, id);
            }
        }
        while (more) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            more = removeSegments(session, id);
        }
        session.update("DELETE FROM task WHERE task_id = ?", id);
        return true;
    }

    /** Whether another hub has removed a task or, unless it is to be erased, removes it now. Locks its row otherwise. */
    private static boolean isOthers(DatabaseSession session, String id, boolean erased) throws SQLException {
        return session.number("SELECT 1 FROM task WHERE task_id = ? FOR UPDATE" + (erased ? "" : " SKIP LOCKED"), id)
                == 0;
    }

    /** A task as it counts in the tally, and for its group. */
    private record Counted(Tally tally, String group, long bytes) {}

    /** Returns a task as it counts; null if it does not exist, or counts no more. */
    private static @Nullable Counted counted(DatabaseSession session, String id) throws SQLException {
        return session.first(
                        row -> counted(row, 1),
                        "SELECT " + COUNTED + " FROM task JOIN lane ON lane.lane_no = task.lane_no WHERE task_id = ?",
                        id)
                .orElse(null);
    }

    /** @param first of the columns */
    private static Counted counted(ResultSet row, int first) throws SQLException {
        return new Counted(
                new Tally(row.getLong(first), state(row.getInt(first + 1))),
                DatabaseSession.text(row, first + 2),
                Storage.ROW + row.getLong(first + 3));
    }

    private void removeAround(DatabaseSession session, String id) throws SQLException {
        JdbcPushStore.count(database, session, -1, "task_id = ?", id);
        session.update("DELETE FROM webhook WHERE task_id = ?", id);
        session.update("DELETE FROM task_name WHERE task_id = ?", id);
    }

    /** Removes the first segments of a task, and returns whether there may be more. */
    private static boolean removeSegments(DatabaseSession session, String id) throws SQLException {
        return session.update(
                        "DELETE FROM segment WHERE task_id = ?1 AND first_seq IN"
                                + " (SELECT first_seq FROM segment WHERE task_id = ?1 LIMIT ?2)",
                        id,
                        SEGMENTS_AT_ONCE)
                == SEGMENTS_AT_ONCE;
    }

    void erase(List<TaskKey> tasks) {
        List<String> ids = tasks.stream().map(TaskKey::taskId).toList();
        Removed removed = removeAll(ids, true);
        for (long lane : removed.lanes) {
            // A join, as no index has the tasks of messages.
            laneRemoval.eraseMessages(
                    lane,
                    " AND task_id IN (SELECT value FROM " + database.system().jsonTexts() + ")",
                    listed(ids));
        }
        laneRemoval.forgetIfEmpty(removed.lanes, true);
        if (isShared) { // other hubs have tasks in memory
            Epochs epochs = database.access().epochs();
            epochs.barrier(Epoch.ERASED_TASKS, database.write(session -> epochs.bump(session, Epoch.ERASED_TASKS)));
        }
    }

    /** Erases the lanes of a principal, as far as they are empty, and rows of them that lead to no task. */
    void forget(String group, String principal) {
        laneRemoval.forget(group, principal);
    }
}
