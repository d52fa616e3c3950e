package dev.parley.store.tasks;

import static dev.parley.store.audit.States.code;
import static dev.parley.store.audit.States.state;

import dev.parley.dialect.Json;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.support.Ids;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.LoggedEntry;
import dev.parley.store.database.Checkpointer;
import dev.parley.store.database.Database;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.Question;
import dev.parley.store.database.Session;
import dev.parley.store.database.Work;
import dev.parley.store.encryption.AtRest;
import dev.parley.store.spi.StoreException;
import dev.parley.store.spi.TaskFilter;
import dev.parley.store.tasks.Lanes.Lane;
import dev.parley.store.tasks.TaskRows.Before;
import dev.parley.store.tasks.TaskRows.InRow;
import dev.parley.store.tasks.TaskRows.Move;
import dev.parley.store.tasks.TaskRows.NewTask;
import dev.parley.store.tasks.TaskRows.SegmentRow;
import dev.parley.store.tasks.TaskRows.Tally;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The log of tasks in a database. A segment is one row, and no event ever rewrites another: appending a chunk costs the
 * chunk and one small row of the task's head.
 */
public final class JdbcTaskLog implements TaskLog, GroupListener {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);

    /** Lane of tasks during a long removal. No lane has this number. */
    private static final long REMOVED_LANE = 0;

    private static final int REMOVED_AT_ONCE = 100;
    private static final int SEGMENTS_AT_ONCE = 8;

    /** Time that a webhook with undelivered events delays the removal of its task. */
    private static final long UNTOLD_MS = DAY_MS;

    private static final int MESSAGES_REMOVED_AT_ONCE = 200;

    /** Ids of ours begin with a hexadecimal digit. */
    private static final String BEHIND_OUR_IDS = "g";

    /** Those that the table has, found by its key: more than two or three if the clock was wrong, also days to come. */
    private static final String DAYS_OF_MESSAGES =
            "WITH RECURSIVE days (day) AS (SELECT min(day) FROM message UNION ALL SELECT (SELECT min(message.day)"
                    + " FROM message WHERE message.day > days.day) FROM days WHERE days.day IS NOT NULL)"
                    + " SELECT day FROM days WHERE day IS NOT NULL";

    private static final String LAST_ID = "\uffff";

    /** Keys read in one query, so that neither readers nor the close wait for long. */
    private static final int KEYS_AT_ONCE = 10_000;

    private final Database database;
    private final Lanes lanes;
    private final AuditTrail audit;
    private final Optional<Instant> newest;

    /** Decides how old messages are, so that one that is sent again while the clock is wrong is recognised. */
    private final InstantSource steadyClock;

    private final AtRest atRest;
    private final JdbcPushStore webhooks;
    private final TaskRows rows;
    private final SeenKeys seen = new SeenKeys();
    private final SeenKeys seenNames = new SeenKeys();
    /** Changes of the tally by the current group; for the writer thread only. */
    private final Map<Tally, Integer> changes = new HashMap<>();

    private long messagesSwept;

    public JdbcTaskLog(Database database, Lanes lanes, AuditTrail audit, AtRest atRest, JdbcPushStore webhooks) {
        this.webhooks = webhooks;
        this.database = database;
        this.rows = TaskRows.of(database.system());
        this.atRest = atRest;
        this.audit = audit;
        this.lanes = lanes;
        this.newest = audit.newestTime();
        this.steadyClock = audit.steadyClock();
        database.listen(this);
        if (!database.isReadOnly()) {
            // Beside the start, which is not to wait for a million keys.
            Thread.ofPlatform().daemon().name("store-keys").start(this::addKnownKeys);
        }
    }

    // ---- Writing

    @Override
    public void submit(Writer writer) {
        database.submit(new Work() {
            private @Nullable Segment segment;
            private int bytes;

            @Override
            public String group() {
                return writer.group();
            }

            @Override
            public int rows() {
                return 1 + bytes / Checkpointer.PAGE;
            }

            @Override
            public void write(Session session) throws SQLException {
                Segment taken = segment;
                if (taken == null) {
                    taken = writer.take();
                    segment = taken;
                }
                if (taken != null) {
                    bytes = append(session, taken);
                    for (Subscription webhook : taken.webhooks()) {
                        webhooks.save(session, webhook, taken.cause());
                    }
                }
            }

            @Override
            public void committed() {
                // A work that has waited for long is in the old generation, where the objects that it refers to would
                // be kept with
                // it.
                Segment taken = segment;
                segment = null;
                if (taken != null) {
                    writer.written(taken);
                }
            }

            @Override
            public void failed(Exception cause) {
                Segment taken = segment == null ? writer.take() : segment;
                if (taken != null) {
                    writer.failed(taken, cause);
                }
            }
        });
    }

    /** Writes a segment, and returns the size of its events. */
    private int append(Session session, Segment segment) throws SQLException {
        Head head = segment.head();
        String id = head.key().taskId();
        long lane = lanes.number(session, Lane.of(head.key()));
        long first = segment.events().getFirst().sequence();
        byte[] events = atRest.task(Json.writeEvents(segment.events()), place(id, first));
        if (first == 1) {
            create(session, lane, segment, events);
        } else {
            move(session, lane, segment, first, events);
        }
        TaskName name = segment.name();
        if (name != null) {
            // Before the commit, as with messages.
            seenNames.add(SeenKeys.ALWAYS, lane, name.name());
            session.update(
                    "INSERT INTO task_name (lane_no, name, task_id) VALUES (?, ?, ?)"
                            + " ON CONFLICT (lane_no, name) DO UPDATE SET task_id = excluded.task_id",
                    lane,
                    name.name(),
                    id);
        }
        for (MessageKey message : segment.messages()) {
            long now = steadyClock.millis();
            // Before the commit, so that no message is in the database and called new.
            seen.add(now / DAY_MS, lane, message.messageId());
            rows.message(session, new TaskRows.MessageRow(now / DAY_MS, lane, message.messageId(), id, now));
        }
        return events.length;
    }

    /** Writes a task's first segment: into its row if the task has ended with it, for then the row is never written again. */
    private void create(Session session, long lane, Segment segment, byte[] events) throws SQLException {
        Head head = segment.head();
        Cause cause = segment.cause();
        String id = head.key().taskId();
        String salt = audit.salt(head.key().scope().group(), cause);
        long entry = audit.logged(LoggedEntry.of(segment, null), cause, id, 1, events);
        boolean ended = head.state().isTerminal();
        rows.create(
                session,
                new NewTask(
                        id,
                        lane,
                        head.contextId(),
                        head.state(),
                        head.statusTime().toEpochMilli(),
                        head.lastSequence(),
                        cause.caller(),
                        cause.traceparent(),
                        segment.messages().size(),
                        cause.chain().baggage(),
                        ended ? new InRow(entry, cause.address(), salt, events) : null));
        changes.merge(new Tally(lane, head.state()), 1, Integer::sum);
        if (!ended) {
            rows.segment(
                    session,
                    new SegmentRow(id, 1, events, entry, head.state(), null, null, cause.address(), salt, null, null));
        }
    }

    private void move(Session session, long lane, Segment segment, long first, byte[] events) throws SQLException {
        Head head = segment.head();
        Cause cause = segment.cause();
        String id = head.key().taskId();
        Before task = rows.before(session, id);
        if (task == null) {
            throw new SQLException("task " + id + " is gone");
        }
        TaskState before = task.state();
        rows.move(
                session,
                new Move(
                        id,
                        first - 1,
                        head.state(),
                        head.statusTime().toEpochMilli(),
                        head.lastSequence(),
                        segment.messages().size()),
                task);
        if (before == head.state()) {
            rows.segment(session, SegmentRow.chunk(id, first, events));
            return;
        }
        changes.merge(new Tally(lane, before), -1, Integer::sum);
        changes.merge(new Tally(lane, head.state()), 1, Integer::sum);
        String salt = audit.salt(head.key().scope().group(), cause);
        rows.segment(
                session,
                new SegmentRow(
                        id,
                        first,
                        events,
                        audit.logged(LoggedEntry.of(segment, before), cause, id, first, events),
                        head.state(),
                        before,
                        cause.caller().equals(task.caller()) ? null : cause.caller(),
                        cause.address(),
                        salt,
                        cause.traceparent(),
                        cause.chain().baggage()));
    }

    private static String place(String taskId, long first) {
        return "event " + first + " of task " + taskId;
    }

    @Override
    public void beforeCommit(Session session) throws SQLException {
        rows.count(session, changes);
        changes.clear();
        long today = steadyClock.millis() / DAY_MS;
        if (messagesSwept != today && rows.sweepMessages(session, today)) {
            messagesSwept = today;
        }
    }

    @Override
    public void committed(int works) {}

    @Override
    public void rolledBack() {
        rows.rolledBack();
        changes.clear();
        messagesSwept = 0;
    }

    // ---- Removing

    @Override
    public Optional<Instant> newest() {
        return newest;
    }

    @Override
    public int removeEnded(Instant before, int limit) {
        // A task that ended by then began by then, so ids, which begin with their time, bound the search; no index by
        // the time of the end has to be kept. Ids that are none of ours sort behind all that are.
        List<String> tasks = ended("", Ids.earliest(before), before, limit);
        if (tasks.size() < limit) {
            tasks.addAll(ended(BEHIND_OUR_IDS, LAST_ID, before, limit - tasks.size()));
        }
        Removed removed = removeAll(tasks, false);
        forgetIfEmpty(removed.lanes, false);
        return removed.tasks;
    }

    /**
     * Tasks in a range of ids that ended before {@code before}. A webhook with undelivered events, or one that was given
     * up since, keeps it for {@link #UNTOLD_MS} at most.
     */
    private List<String> ended(String from, String to, Instant before, int limit) {
        long millis = before.toEpochMilli();
        return database.read(session -> session.list(
                rows -> Session.text(rows, 1),
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

    /** @param erased whether it leaves no trace in the files, and is written behind all that was submitted before */
    private <T> T write(int rows, boolean erased, Question<T> change) {
        return erased ? database.erase(change) : database.write(rows, change);
    }

    /** Removes the first of these tasks, as many as a short while allows. */
    private Removed removeSome(Session session, List<String> tasks, boolean erased) throws SQLException {
        long end = System.nanoTime() + Database.SLICE_NANOS;
        var touched = new TreeSet<Long>();
        int removed = 0;
        while (removed < tasks.size()
                && System.nanoTime() - end < 0
                && remove(session, tasks.get(removed), touched, end, erased)) {
            removed++;
        }
        return new Removed(removed, touched);
    }

    /**
     * Removes a task; false if time ran out, and its other rows are left for the next call. Meanwhile it is hidden, unless it is erased: a
     * crash must not keep it from being found and erased again.
     */
    private boolean remove(Session session, String id, Set<Long> touched, long end, boolean erased)
            throws SQLException {
        AuditTrail.keep(session, id);
        removeAround(session, id);
        boolean more = removeSegments(session, id);
        while (more && erased) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            more = removeSegments(session, id);
        }
        Tally tally = tally(session, id);
        if (tally != null && tally.lane() != REMOVED_LANE) {
            touched.add(tally.lane());
            changes.merge(tally, -1, Integer::sum);
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

    /** Row of the tally for a task; null if the task does not exist. */
    private static @Nullable Tally tally(Session session, String id) throws SQLException {
        return session.first(
                        row -> new Tally(row.getLong(1), state(row.getInt(2))),
                        "SELECT lane_no, state FROM task WHERE task_id = ?",
                        id)
                .orElse(null);
    }

    private static void removeAround(Session session, String id) throws SQLException {
        session.update("DELETE FROM webhook WHERE task_id = ?", id);
        session.update("DELETE FROM task_name WHERE task_id = ?", id);
    }

    /** Removes the first segments of a task, and returns whether there may be more. */
    private static boolean removeSegments(Session session, String id) throws SQLException {
        return session.update(
                        "DELETE FROM segment WHERE task_id = ?1 AND first_seq IN"
                                + " (SELECT first_seq FROM segment WHERE task_id = ?1 LIMIT ?2)",
                        id,
                        SEGMENTS_AT_ONCE)
                == SEGMENTS_AT_ONCE;
    }

    /**
     * Forgets the lanes that have neither tasks nor webhooks, with what they left behind: keys that lead to no task any more. In transactions
     * of few rows each. Keys that a crash leaves are removed by their day.
     */
    private void forgetIfEmpty(Set<Long> lanes, boolean erased) {
        for (long lane : lanes) {
            boolean done;
            do {
                done = write(MESSAGES_REMOVED_AT_ONCE, erased, session -> tryForget(session, lane));
            } while (!done);
        }
    }

    /** Forgets a lane if it is empty; false if it has more keys than are removed at once. */
    private boolean tryForget(Session session, long lane) throws SQLException {
        if (!isEmpty(session, "task", lane) || !isEmpty(session, "webhook", lane)) {
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
        lanes.forget(session, lane);
        return true;
    }

    private static boolean isEmpty(Session session, String table, long lane) throws SQLException {
        return session.number(
                        "SELECT count(*) FROM (SELECT 1 FROM " + table + " WHERE lane_no = ? LIMIT 1) AS any_row", lane)
                == 0;
    }

    private static List<Long> days(Session session) throws SQLException {
        return session.list(rows -> rows.getLong(1), DAYS_OF_MESSAGES);
    }

    /**
     * Erases the keys of a lane that satisfy a condition. They are searched beside the writer, because no index leads to them.
     *
     * @param condition on the rows, beside their lane
     */
    private void eraseMessages(long lane, String condition, Object... values) {
        for (long day : database.read(JdbcTaskLog::days)) {
            var all = new ArrayList<@Nullable Object>(List.of(day, lane));
            all.addAll(List.of(values));
            List<String> keys = database.read(session -> session.list(
                    rows -> Session.text(rows, 1),
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
                rows -> new Orphan(Session.text(rows, 1), Session.text(rows, 2)),
                "SELECT task_id, " + key + " FROM " + table + " WHERE lane_no = ?" + condition,
                lane));
        database.writeInSlices(
                orphans,
                true,
                (session, orphan) -> session.update(
                        "DELETE FROM " + table + " WHERE lane_no = ? AND task_id = ? AND " + key + " = ?" + condition,
                        lane,
                        orphan.taskId,
                        orphan.key));
    }

    @Override
    public List<Head> about(Subject subject, @Nullable String after, int limit) {
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
    private static final class Conditions {
        private final StringBuilder sql = new StringBuilder();
        private final List<@Nullable Object> values = new ArrayList<>();

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

    public List<String> agents(int limit) {
        return database.read(session -> session.list(
                rows -> Session.text(rows, 1), "SELECT DISTINCT agent FROM lane ORDER BY agent LIMIT ?", limit));
    }

    /** Lists tasks of all groups and agents. */
    public List<Head> newest(TaskFilter filter) {
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

    @Override
    public void erase(List<TaskKey> tasks) {
        List<String> ids = tasks.stream().map(TaskKey::taskId).toList();
        Removed removed = removeAll(ids, true);
        String list = new String(Json.write(ids), StandardCharsets.UTF_8);
        for (long lane : removed.lanes) {
            eraseMessages(
                    lane,
                    " AND task_id IN (SELECT value FROM " + database.system().jsonTexts() + ")",
                    list);
        }
        forgetIfEmpty(removed.lanes, true);
    }

    @Override
    public void forget(String group, String principal) {
        String orphaned = " AND NOT EXISTS (SELECT 1 FROM task WHERE task.task_id = %s.task_id)";
        List<Long> owned = database.erase(session -> lanes.of(session, group, principal));
        for (long lane : owned) {
            eraseOrphans("webhook", "config_id", lane, orphaned.formatted("webhook"));
            eraseOrphans("task_name", "name", lane, orphaned.formatted("task_name"));
            eraseMessages(lane, orphaned.formatted("message"));
        }
        forgetIfEmpty(new TreeSet<>(owned), true);
    }

    // ---- Reading

    /** A key that leads to a task: the id of a message of a day, or a name of any day. */
    private record Known(long day, long lane, String key) {}

    private void addKnownKeys() {
        try {
            addKnown(
                    seen,
                    new Known(steadyClock.millis() / DAY_MS - 1, 0, ""),
                    "SELECT day, lane_no, message_id FROM message WHERE (day, lane_no, message_id) > (?, ?, ?)"
                            + " ORDER BY day, lane_no, message_id LIMIT ?");
            addKnown(
                    seenNames,
                    new Known(SeenKeys.ALWAYS, 0, ""),
                    "SELECT " + SeenKeys.ALWAYS + ", lane_no, name FROM task_name WHERE ? = " + SeenKeys.ALWAYS
                            + " AND (lane_no, name) > (?, ?) ORDER BY lane_no, name LIMIT ?");
        } catch (StoreException closed) {
            LOG.log(Level.DEBUG, "messages and names are looked up in the database", closed);
        }
    }

    private void addKnown(SeenKeys seen, Known first, String sql) {
        Known last = first;
        List<Known> known;
        do {
            Known after = last;
            known = database.read(session -> session.list(
                    row -> new Known(row.getLong(1), row.getLong(2), Session.text(row, 3)),
                    sql,
                    after.day,
                    after.lane,
                    after.key,
                    KEYS_AT_ONCE));
            for (Known key : known) {
                seen.add(key.day, key.lane, key.key);
                last = key;
            }
        } while (!known.isEmpty());
        seen.completed();
    }

    @Override
    public Optional<Head> find(TaskKey key) {
        Long lane = lanes.find(Lane.of(key));
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

    private List<Head> heads(Session session, String sql, @Nullable Object... values) throws SQLException {
        var heads = new ArrayList<Head>();
        try (ResultSet rows = session.bind(sql, values).executeQuery()) {
            while (rows.next()) {
                Lane lane = lanes.get(rows.getLong(1));
                if (lane == null) {
                    continue; // removed while it was read
                }
                heads.add(new Head(
                        new TaskKey(lane.scope(), lane.agent(), Session.text(rows, 2)),
                        Session.text(rows, 3),
                        state(rows.getInt(4)),
                        Instant.ofEpochMilli(rows.getLong(5)),
                        rows.getLong(6)));
            }
        }
        return heads;
    }

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit) {
        Long lane = lanes.find(Lane.of(key));
        if (lane == null) {
            return List.of();
        }
        String id = key.taskId();
        Optional<List<LoggedEvent>> small =
                database.read(session -> read(session, id, lane, after, limit, LargeBodies.LARGE));
        // Reading a large one would keep the caller's processor, and one of the few connections, for milliseconds.
        return small.orElseGet(() -> LargeBodies.compute(
                LargeBodies.LARGE,
                key.scope().group(),
                () -> database.read(session -> read(session, id, lane, after, limit, Integer.MAX_VALUE))
                        .orElseThrow()));
    }

    /** Returns events; empty if a segment of them has {@code large} bytes or more. */
    private Optional<List<LoggedEvent>> read(Session session, String id, long lane, long after, int limit, int large)
            throws SQLException {
        var events = new ArrayList<LoggedEvent>();
        try (ResultSet row = session.bind(
                        "SELECT length(events), events FROM task WHERE task_id = ? AND lane_no = ?", id, lane)
                .executeQuery()) {
            if (!row.next()) {
                return Optional.of(events);
            }
            if (row.getInt(1) >= large) {
                return Optional.empty();
            }
            byte[] ofEnded = row.getBytes(2);
            if (ofEnded != null) {
                decode(id, 1, ofEnded, after, limit, events);
                return Optional.of(events);
            }
        }
        // Begins with the segment that holds the event behind "after", which may begin before it.
        try (ResultSet rows = session.bind(
                        "SELECT first_seq, length(events), events FROM segment WHERE task_id = ?1 AND first_seq >="
                                + " coalesce((SELECT max(first_seq) FROM segment WHERE task_id = ?1 AND first_seq <= ?2),"
                                + " 0) ORDER BY first_seq",
                        id,
                        after + 1)
                .executeQuery()) {
            while (events.size() < limit && rows.next()) {
                if (rows.getInt(2) >= large) {
                    return Optional.empty();
                }
                decode(id, rows.getLong(1), rows.getBytes(3), after, limit, events);
            }
        }
        return Optional.of(events);
    }

    /** Adds the events of a segment behind {@code after}, until there are so many. */
    private void decode(String taskId, long first, byte[] stored, long after, int limit, List<LoggedEvent> into) {
        try {
            decode(first, atRest.open(stored, place(taskId, first)), after, limit, into);
        } catch (RuntimeException damaged) {
            throw new DamagedTaskException(taskId, "the segment of event " + first + " cannot be read", damaged);
        }
    }

    private static void decode(long first, byte[] json, long after, int limit, List<LoggedEvent> into) {
        long sequence = first;
        for (TaskEvent event : Json.readEvents(json)) {
            if (sequence > after && into.size() < limit) {
                into.add(new LoggedEvent(sequence, event));
            }
            sequence++;
        }
    }

    @Override
    public Optional<Cause> cause(TaskKey key) {
        Long lane = lanes.find(Lane.of(key));
        return lane == null
                ? Optional.empty()
                : database.read(session -> session.first(
                        row -> new Cause(
                                Session.text(row, 1), "", Session.text(row, 2), CallChain.read(Session.text(row, 3))),
                        "SELECT caller, trace, agents FROM task WHERE task_id = ? AND lane_no = ?",
                        key.taskId(),
                        lane));
    }

    @Override
    public Optional<String> taskNamed(TaskName name) {
        Long lane = lanes.find(new Lane(name.scope(), name.agent()));
        if (lane == null || !seenNames.mayHave(lane, name.name())) {
            return Optional.empty();
        }
        return database.read(session -> session.first(
                row -> Session.text(row, 1),
                "SELECT task_id FROM task_name WHERE lane_no = ? AND name = ?",
                lane,
                name.name()));
    }

    @Override
    public Optional<String> taskOf(MessageKey key) {
        Long lane = lanes.find(new Lane(key.scope(), key.agent()));
        if (lane == null || !seen.mayHave(lane, key.messageId())) {
            return Optional.empty();
        }
        long now = steadyClock.millis();
        return database.read(session -> session.first(
                row -> Session.text(row, 1),
                "SELECT task_id FROM message WHERE day IN (" + DAYS_OF_MESSAGES
                        + ") AND lane_no = ? AND message_id = ?"
                        + " AND made_ms > ? AND EXISTS (SELECT 1 FROM task WHERE task.task_id = message.task_id)"
                        + " ORDER BY made_ms DESC LIMIT 1",
                lane,
                key.messageId(),
                now - DAY_MS));
    }

    @Override
    public int turns(Scope scope, String agent, String contextId) {
        Long lane = lanes.find(new Lane(scope, agent));
        return lane == null
                ? 0
                : database.read(session -> Math.toIntExact(session.number(
                        "SELECT coalesce(sum(turns), 0) FROM task WHERE lane_no = ? AND context_id = ?",
                        lane,
                        contextId)));
    }

    @Override
    public Page list(Query query) {
        var where = new Conditions();
        if (query.owner() == null) {
            where.and(
                    "lane_no IN (SELECT lane_no FROM lane WHERE group_id = ? AND agent = ?)",
                    query.group(),
                    query.agent());
        } else {
            Long lane = lanes.find(new Lane(new Scope(query.group(), query.owner()), query.agent()));
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

    private static long tallied(Session session, String tally, Object[] lanes, @Nullable TaskState state)
            throws SQLException {
        return state == null
                ? session.number(tally, lanes)
                : session.number(tally + " AND state = " + code(state), lanes);
    }

    @Override
    public List<Head> unfinished() {
        return database.read(session -> heads(
                session,
                "SELECT lane_no, task_id, context_id, state, status_ms, last_seq FROM task WHERE state IN (0, 1, 2)"));
    }

    @Override
    public void close() {
        database.close();
    }
}
