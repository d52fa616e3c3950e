package dev.parley.store.tasks;

import dev.parley.dialect.Json;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.engine.spi.DamagedTaskException;
import dev.parley.engine.spi.KeyTakenException;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.Space;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskMail;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.LoggedEntry;
import dev.parley.store.database.Checkpointer;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.PostgresqlSystem;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.database.Work;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.TaskFilter;
import dev.parley.store.tasks.TaskOwners.TaskOwner;
import dev.parley.store.tasks.TaskRows.Before;
import dev.parley.store.tasks.TaskRows.Ids;
import dev.parley.store.tasks.TaskRows.InRow;
import dev.parley.store.tasks.TaskRows.Move;
import dev.parley.store.tasks.TaskRows.NewTask;
import dev.parley.store.tasks.TaskRows.RowUser;
import dev.parley.store.tasks.TaskRows.SegmentRow;
import dev.parley.store.tasks.TaskRows.Tally;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The log of tasks in a database. A segment is one row, and no event ever rewrites another: appending a chunk costs the
 * chunk and one small row of the task's head.
 */
public final class JdbcTaskLog implements TaskLog, GroupListener {
    private final Database database;
    private final TaskOwners lanes;
    private final AuditTrail audit;
    private final Optional<Instant> newest;

    /** Decides how old messages are, so that one that is sent again while the clock is wrong is recognised. */
    private final InstantSource steadyClock;

    private final EncryptionAtRest atRest;
    private final JdbcPushStore webhooks;
    private final TaskRows rows;
    private final TaskKeys keys;
    private final TaskClaims claims;
    private final Once once;
    private final TaskLists lists;
    private final TaskWalks walks;
    private final TaskRemoval removal;
    private final TaskTakeover takeover;
    private final Optional<JdbcTaskMail> mail;
    /** Changes of the tally by the current group; for the writer thread only. */
    private final Map<Tally, Integer> changes = new HashMap<>();
    /** Empty if no other hub writes to the database. */
    private volatile Optional<TaskHints> hints = Optional.empty();

    private long messagesSwept;

    /** @param once when a message gets its task */
    public JdbcTaskLog(
            Database database,
            TaskOwners lanes,
            AuditTrail audit,
            EncryptionAtRest atRest,
            JdbcPushStore webhooks,
            Once once) {
        this.once = once;
        this.webhooks = webhooks;
        this.database = database;
        this.rows = TaskRows.of(database.system(), once);
        this.atRest = atRest;
        this.audit = audit;
        this.lanes = lanes;
        this.newest = audit.newestTime();
        this.steadyClock = audit.steadyClock();
        this.keys = new TaskKeys(database, lanes, steadyClock, once);
        this.claims = new TaskClaims(database, lanes, rows, keys, steadyClock, once);
        this.lists = new TaskLists(database, lanes);
        this.walks = new TaskWalks(database, lanes);
        this.takeover = new TaskTakeover(database, lanes, once);
        this.removal = new TaskRemoval(database, lanes, changes);
        this.mail =
                JdbcTaskMail.of(database, lanes, atRest, once, stream -> hints.ifPresent(told -> told.mail(stream)));
        database.listen(this);
    }

    // ---- Writing

    @Override
    public void submit(Writer writer) {
        database.submit(new SegmentWork(writer));
    }

    /** A segment on its way to the database. */
    private final class SegmentWork implements Work, RowUser {
        private final Writer writer;
        private @Nullable Segment segment;
        private @Nullable RuntimeException refusal;
        private int bytes;

        SegmentWork(Writer writer) {
            this.writer = writer;
        }

        @Override
        public String group() {
            return writer.group();
        }

        @Override
        public int rows() {
            return 1 + bytes / Checkpointer.PAGE;
        }

        @Override
        public void write(DatabaseSession session) throws SQLException {
            Segment toWrite = segment;
            if (toWrite == null) {
                toWrite = writer.take();
                segment = toWrite;
            }
            if (toWrite != null && refusal == null) {
                append(session, toWrite);
            }
        }

        private void append(DatabaseSession session, Segment toWrite) throws SQLException {
            TaskKey key = toWrite.head().key();
            long lane = lanes.number(session, TaskOwner.of(key));
            long previous = toWrite.events().getFirst().sequence() - 1;
            Before task = previous == 0 ? null : rows.before(session, key.taskId(), previous, this);
            if (refusal == null) {
                writeKeys(session, lane, toWrite, this);
            }
            if (refusal == null) {
                bytes = JdbcTaskLog.this.append(session, lane, toWrite, task, this);
                for (Subscription webhook : toWrite.webhooks()) {
                    webhooks.save(session, webhook, toWrite.cause());
                }
            }
        }

        @Override
        public void refused(RuntimeException cause) {
            refusal = cause;
        }

        @Override
        public void committed() {
            // A work that has waited for long would keep the objects of its segment until the next full collection.
            Segment written = segment;
            segment = null;
            if (written != null && refusal != null) {
                claims.refused(written);
                writer.failed(written, refusal);
            } else if (written != null) {
                claims.written(written);
                hints.ifPresent(told -> told.written(written.head().key().taskId()));
                writer.written(written);
            }
        }

        @Override
        public void failed(Exception cause) {
            Segment lost = segment == null ? writer.take() : segment;
            if (lost != null) {
                claims.refused(lost);
                writer.failed(lost, refusal == null ? cause : refusal);
            }
        }
    }

    @Override
    public Once once() {
        return once;
    }

    @Override
    public CompletableFuture<@Nullable Void> claim(Claim claim) {
        return claims.claim(claim);
    }

    @Override
    public void release(Claim claim) {
        if (once == Once.CLAIM) {
            claims.release(claim);
        }
    }

    @Override
    public boolean mayHave(MessageKey key) {
        return keys.mayHave(key);
    }

    /** Has the messages and the name of a segment lead to its task; tells {@code user} if they lead to another one. */
    private void writeKeys(DatabaseSession session, long lane, Segment segment, RowUser user) throws SQLException {
        Naming naming = segment.naming();
        String id = segment.head().key().taskId();
        if (naming != null && !keys.move(session, lane, naming, id)) {
            user.refused(new KeyTakenException("name \"" + naming.name().name() + "\"", false));
            return;
        }
        boolean[] refused = new boolean[1];
        claims.write(session, lane, segment, cause -> {
            refused[0] = true;
            user.refused(cause);
        });
        if (naming != null && refused[0]) { // later the group is rolled back
            TaskKeys.moveBack(session, lane, naming, id);
        }
    }

    /** Writes a segment, and returns the size of its events. */
    private int append(DatabaseSession session, long lane, Segment segment, @Nullable Before task, RowUser user)
            throws SQLException {
        String id = segment.head().key().taskId();
        long first = segment.events().getFirst().sequence();
        byte[] events = atRest.task(Json.writeEvents(segment.events()), place(id, first));
        if (first == 1) {
            create(session, lane, segment, events);
        } else if (task == null) {
            throw new SQLException("task " + id + " is gone");
        } else {
            move(session, lane, segment, task, events, user);
        }
        return events.length;
    }

    /** Writes a task's first segment: into its row if the task has ended with it, for then the row is never written again. */
    private void create(DatabaseSession session, long lane, Segment segment, byte[] events) throws SQLException {
        Head head = segment.head();
        Cause cause = segment.cause();
        String id = head.key().taskId();
        String salt = audit.salt(head.key().scope().group(), cause);
        long entry = audit.logged(LoggedEntry.of(segment, null), cause, id, 1, events);
        boolean ended = head.state().isTerminal();
        Ids ids = Ids.in(segment.events());
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
                        ended ? 0 : Storage.ROW + events.length,
                        ended ? new InRow(entry, cause.address(), salt, ids, events) : null));
        changes.merge(new Tally(lane, head.state()), 1, Integer::sum);
        database.storage()
                .add(head.key().scope().group(), Kind.TASKS, Storage.ROW + (ended ? 0 : Storage.ROW) + events.length);
        if (!ended) {
            rows.segment(
                    session,
                    new SegmentRow(
                            id,
                            1,
                            events,
                            entry,
                            head.state(),
                            null,
                            null,
                            cause.address(),
                            salt,
                            null,
                            null,
                            ids,
                            steadyClock.millis()));
        }
    }

    private void move(DatabaseSession session, long lane, Segment segment, Before task, byte[] events, RowUser user)
            throws SQLException {
        Head head = segment.head();
        Cause cause = segment.cause();
        String id = head.key().taskId();
        long first = segment.events().getFirst().sequence();
        TaskState before = task.state();
        rows.move(
                session,
                new Move(
                        id,
                        first - 1,
                        head.state(),
                        head.statusTime().toEpochMilli(),
                        head.lastSequence(),
                        segment.messages().size(),
                        Storage.ROW + events.length,
                        user),
                task);
        database.storage().add(head.key().scope().group(), Kind.TASKS, Storage.ROW + events.length);
        Ids ids = Ids.in(segment.events());
        if (before == head.state() && ids.received() == null) {
            rows.segment(session, SegmentRow.chunk(id, first, events, steadyClock.millis()));
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
                        cause.chain().baggage(),
                        ids,
                        steadyClock.millis()));
    }

    private static String place(String taskId, long first) {
        return "event " + first + " of task " + taskId;
    }

    @Override
    public void beforeCommit(DatabaseSession session) throws SQLException {
        rows.count(session, changes);
        changes.clear();
        long today = claims.today();
        if (messagesSwept != today && rows.sweepMessages(session, today)) {
            messagesSwept = today;
        }
    }

    @Override
    public void rolledBack() {
        rows.rolledBack();
        changes.clear();
        messagesSwept = 0;
    }

    @Override
    public Space space(String group) {
        return database.storage().space(group);
    }

    // ---- Removing

    @Override
    public Optional<Instant> newest() {
        return newest;
    }

    @Override
    public int removeEnded(Instant before, int limit) {
        return removal.removeEnded(before, limit);
    }

    @Override
    public void erase(List<TaskKey> tasks) {
        removal.erase(tasks);
    }

    @Override
    public void forget(String group, String principal) {
        removal.forget(group, principal);
    }

    // ---- Lists

    @Override
    public List<Head> about(Subject subject, @Nullable String after, int limit) {
        return lists.about(subject, after, limit);
    }

    public List<String> agents(int limit) {
        return lists.agents(limit);
    }

    /** Lists tasks of all groups and agents. */
    public List<Head> newest(TaskFilter filter) {
        return lists.newest(filter);
    }

    @Override
    public Page list(Query query) {
        return lists.list(query);
    }

    @Override
    public void walk(Selection selection, BiPredicate<Scope, String> lanes, Predicate<Listed> visitor) {
        walks.walk(selection, lanes, visitor);
    }

    @Override
    public List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit) {
        return walks.counts(group, owners, agent, limit);
    }

    @Override
    public List<Head> unfinished() {
        return lists.unfinished();
    }

    @Override
    public List<Head> interrupted() {
        return takeover.owner().map(lists::unfinished).orElseGet(lists::unfinished);
    }

    @Override
    public List<Head> takeOver(Set<String> agents, int limit) {
        return takeover.takeOver(agents, limit);
    }

    @Override
    public Optional<Head> find(TaskKey key) {
        return lists.find(key);
    }

    @Override
    public void onHint(Consumer<Set<String>> listener) {
        if (once == Once.CLAIM && database.system() instanceof PostgresqlSystem system) {
            hints = Optional.of(new TaskHints(system, listener, () -> mail.ifPresent(JdbcTaskMail::hinted)));
        }
    }

    @Override
    public void onOthers(Runnable ended, Consumer<Existing> erased) {
        takeover.onOthers(ended, erased);
    }

    @Override
    public TaskMail mail() {
        return mail.map(TaskMail.class::cast).orElse(TaskMail.NONE);
    }

    @Override
    public void follow(TaskKey task) {
        hints.ifPresent(told -> told.follow(task.taskId()));
    }

    @Override
    public List<TaskKey> changed(Map<TaskKey, Long> known) {
        return lists.changed(known);
    }

    @Override
    public Optional<Head> find(String group, String taskId) {
        return lists.find(group, taskId);
    }

    @Override
    public List<Head> inTrace(@Nullable String group, String trace, int limit) {
        return lists.inTrace(group, trace, limit);
    }

    @Override
    public Optional<String> taskNamed(TaskName name) {
        return keys.taskNamed(name);
    }

    @Override
    public Optional<String> taskOf(MessageKey key) {
        return keys.taskOf(key);
    }

    // ---- Reading

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit) {
        return read(key, after, limit, Integer.MAX_VALUE);
    }

    @Override
    public List<LoggedEvent> read(TaskKey key, long after, int limit, int bytes) {
        Long lane = lanes.find(TaskOwner.of(key));
        if (lane == null) {
            return List.of();
        }
        String id = key.taskId();
        Optional<List<LoggedEvent>> small =
                database.read(session -> read(session, id, lane, after, limit, bytes, LargeBodies.LARGE));
        // Reading a large one would keep the caller's processor, and one of the few connections, for milliseconds.
        return small.orElseGet(() -> LargeBodies.compute(
                LargeBodies.LARGE,
                key.scope().group(),
                () -> database.read(session -> read(session, id, lane, after, limit, bytes, Integer.MAX_VALUE))
                        .orElseThrow()));
    }

    /** Returns events; empty if a segment of them has {@code large} bytes or more. */
    private Optional<List<LoggedEvent>> read(
            DatabaseSession session, String id, long lane, long after, int limit, int bytes, int large)
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
        // Begins with the segment that holds the event after number "after", which may begin before it.
        try (ResultSet rows = session.bind(
                        "SELECT first_seq, length(events), events FROM segment WHERE task_id = ?1 AND first_seq >="
                                + " coalesce((SELECT max(first_seq) FROM segment WHERE task_id = ?1 AND first_seq <= ?2),"
                                + " 0) ORDER BY first_seq",
                        id,
                        after + 1)
                .executeQuery()) {
            long size = 0;
            while (events.size() < limit && (events.isEmpty() || size < bytes) && rows.next()) {
                if (rows.getInt(2) >= large) {
                    return Optional.empty();
                }
                size += rows.getInt(2);
                decode(id, rows.getLong(1), rows.getBytes(3), after, limit, events);
            }
        }
        return Optional.of(events);
    }

    /** Adds the events of a segment after {@code after}, until there are so many. */
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
    public NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit) {
        return lists.times(key, sequence, limit);
    }

    @Override
    public Optional<Cause> cause(TaskKey key) {
        return lists.cause(key);
    }

    @Override
    public int turns(Scope scope, String agent, String contextId) {
        return lists.turns(scope, agent, contextId);
    }

    @Override
    public void close() {
        hints.ifPresent(TaskHints::close);
        database.close();
    }
}
