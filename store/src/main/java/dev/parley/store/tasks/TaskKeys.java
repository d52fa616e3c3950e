package dev.parley.store.tasks;

import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Naming;
import dev.parley.engine.spi.TaskLog.TaskName;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.StoreException;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Ids of messages and names of tasks, which lead to tasks: those of the database, and a filter of them in memory. */
final class TaskKeys {
    private static final Logger LOG = System.getLogger("dev.parley.store");
    private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);

    /** Days in the table, found by its key: more than three, future ones included, after a wrong clock. */
    static final String DAYS_OF_MESSAGES =
            "WITH RECURSIVE days (day) AS (SELECT min(day) FROM message UNION ALL SELECT (SELECT min(message.day)"
                    + " FROM message WHERE message.day > days.day) FROM days WHERE days.day IS NOT NULL)"
                    + " SELECT day FROM days WHERE day IS NOT NULL";

    /** Keys read in one query, so that neither readers nor the close wait for long. */
    private static final int KEYS_AT_ONCE = 10_000;

    /** A key that leads to a task: the id of a message, or a name. */
    private record Known(long lane, String key) {}

    private final Database database;
    private final TaskOwners lanes;

    /** Decides how old messages are, so that one that is sent again while the clock is wrong is recognised. */
    private final InstantSource clock;

    private final SeenKeys seen = new SeenKeys();
    private final SeenKeys seenNames = new SeenKeys();

    private final Once once;

    TaskKeys(Database database, TaskOwners lanes, InstantSource clock, Once once) {
        this.once = once;
        this.database = database;
        this.lanes = lanes;
        this.clock = clock;
        if (!database.isReadOnly()) {
            // Beside the start, which is not to wait for a million keys.
            Thread.ofPlatform().daemon().name("store-keys").start(this::addKnownKeys);
        }
    }

    /**
     * Has a name lead to another task, if it leads to none or to the one before still; false if it does not. Known from then on, before
     * the commit, so that no name in the database counts as new. On the writer thread.
     */
    boolean move(DatabaseSession session, long lane, Naming naming, String taskId) throws SQLException {
        String name = naming.name().name();
        seenNames.add(SeenKeys.ALWAYS, lane, name);
        return session.update(
                        "INSERT INTO task_name (lane_no, name, task_id) VALUES (?, ?, ?)"
                                + " ON CONFLICT (lane_no, name) DO UPDATE SET task_id = excluded.task_id"
                                + " WHERE task_name.task_id = ? OR task_name.task_id = excluded.task_id",
                        lane,
                        name,
                        taskId,
                        naming.before() == null ? "" : naming.before())
                > 0;
    }

    /** True if a name is still where it is to be moved from. */
    boolean isAt(DatabaseSession session, long lane, Naming naming) throws SQLException {
        Optional<String> holder = session.first(
                row -> DatabaseSession.text(row, 1),
                "SELECT task_id FROM task_name WHERE lane_no = ? AND name = ?",
                lane,
                naming.name().name());
        return holder.isEmpty() || holder.get().equals(naming.before());
    }

    /** Undoes the move of a name by the transaction in the making. */
    static void moveBack(DatabaseSession session, long lane, Naming naming, String taskId) throws SQLException {
        if (naming.before() == null) {
            session.update(
                    "DELETE FROM task_name WHERE lane_no = ? AND name = ? AND task_id = ?",
                    lane,
                    naming.name().name(),
                    taskId);
        } else {
            session.update(
                    "UPDATE task_name SET task_id = ? WHERE lane_no = ? AND name = ? AND task_id = ?",
                    naming.before(),
                    lane,
                    naming.name().name(),
                    taskId);
        }
    }

    /** Adds the id of a message. On the writer thread, before the commit, so that no key in the database counts as new. */
    void addMessage(long day, long lane, String id) {
        seen.add(day, lane, id);
    }

    private void addKnownKeys() {
        try {
            long first = clock.millis() / DAY_MS - 1;
            for (long day : database.read(session -> session.list(row -> row.getLong(1), DAYS_OF_MESSAGES))) {
                if (day >= first) {
                    addKnown(
                            seen,
                            day,
                            "SELECT lane_no, message_id FROM message WHERE day = ? AND (lane_no, message_id) > (?, ?)"
                                    + " ORDER BY lane_no, message_id LIMIT ?");
                }
            }
            seen.completed();
            addKnown(
                    seenNames,
                    SeenKeys.ALWAYS,
                    "SELECT lane_no, name FROM task_name WHERE ? = " + SeenKeys.ALWAYS
                            + " AND (lane_no, name) > (?, ?) ORDER BY lane_no, name LIMIT ?");
            seenNames.completed();
        } catch (StoreException closed) {
            LOG.log(Level.DEBUG, "messages and names are looked up in the database", closed);
        }
    }

    /** Of one day, which is one partition: a page over several of them sorts all that is left. */
    private void addKnown(SeenKeys seen, long day, String sql) {
        Known last = new Known(0, "");
        List<Known> known;
        do {
            Known after = last;
            known = database.read(session -> session.list(
                    row -> new Known(row.getLong(1), DatabaseSession.text(row, 2)),
                    sql,
                    day,
                    after.lane,
                    after.key,
                    KEYS_AT_ONCE));
            for (Known key : known) {
                seen.add(day, key.lane, key.key);
                last = key;
            }
        } while (!known.isEmpty());
    }

    Optional<String> taskNamed(TaskName name) {
        Long lane = lanes.find(new TaskOwner(name.scope(), name.agent()));
        // What another hub has named is not known here.
        if (lane == null || once == Once.INDEX && !seenNames.mayHave(lane, name.name())) {
            return Optional.empty();
        }
        return database.read(session -> session.first(
                row -> DatabaseSession.text(row, 1),
                "SELECT task_id FROM task_name WHERE lane_no = ? AND name = ?",
                lane,
                name.name()));
    }

    /** False if no message of this key is in the database, unless another hub has written it since the start of this one. */
    boolean mayHave(MessageKey key) {
        Long lane = lanes.find(new TaskOwner(key.scope(), key.agent()));
        return lane != null && seen.mayHave(lane, key.messageId());
    }

    /**
     * Returns the task of a message. It is durable: callers repeat a message to learn that.
     *
     * @throws StoreException if the message may have a task, and the database cannot be written
     */
    Optional<String> taskOf(MessageKey key) {
        Long lane = lanes.find(new TaskOwner(key.scope(), key.agent()));
        if (lane == null || once == Once.INDEX && !seen.mayHave(lane, key.messageId())) {
            return Optional.empty();
        }
        database.requireNoneInDoubt();
        long now = clock.millis();
        Optional<String> task = database.read(session -> session.first(
                row -> DatabaseSession.text(row, 1),
                "SELECT task_id FROM message WHERE day IN (" + DAYS_OF_MESSAGES
                        + ") AND lane_no = ? AND message_id = ?"
                        + " AND made_ms > ? AND EXISTS (SELECT 1 FROM task WHERE task.task_id = message.task_id)"
                        + " ORDER BY made_ms DESC LIMIT 1",
                lane,
                key.messageId(),
                now - DAY_MS));
        if (task.isPresent()) {
            database.confirm();
        }
        return task;
    }
}
