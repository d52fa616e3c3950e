package dev.parley.gateway.route;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Work;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.shared.KeyLocks;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Owners of the tasks and contexts of remote agents. The first principal that gets an id owns it; owners never change, so those in memory
 * stay true on all hubs of a database until a route is removed or a principal erased, after which all hubs forget them. Safe for any
 * thread.
 */
public final class Owners {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final int IN_MEMORY = 20_000;

    /** Rows that answers do not wait for, at most. */
    private static final int UNWRITTEN = 1_000;

    /** Owner of ids whose principal was erased: they belong to no caller, and cannot be claimed again. */
    private static final String ERASED = "";

    private final Database database;
    private final InstantSource clock;
    private final ValueCipher cipher;
    private final Epochs epochs;
    private final KeyLocks locks;
    private final Map<Key, Owned> known = Collections.synchronizedMap(new LruMap<>(IN_MEMORY));
    private final Semaphore unwritten = new Semaphore(UNWRITTEN);
    private final AtomicLong removals = new AtomicLong();

    private record Key(String route, boolean task, String id) {}

    /**
     * Owner of an id.
     *
     * @param replica that has the task or context; empty if that is not known
     */
    record Owned(Scope owner, String replica) {}

    /**
     * @param database with the tables of {@link RouteTable}
     * @param cipher encrypts answers that are kept
     */
    public Owners(Database database, InstantSource clock, ValueCipher cipher) {
        this.cipher = cipher;
        this.database = database;
        this.clock = clock;
        this.epochs = database.access().epochs();
        this.locks = new KeyLocks(epochs);
        epochs.keep(Epoch.GATEWAY, this::forget);
    }

    /**
     * A task or context that a principal got.
     *
     * @param taskId null for none
     * @param contextId null for none
     * @param name that the caller gave to the task; null for none
     * @param answer task that exists at the gateway only; null if the remote agent has it
     * @param replica that has them; empty if that is not known
     */
    record Claim(
            @Nullable String taskId,
            @Nullable String contextId,
            @Nullable String name,
            @Nullable Task answer,
            String replica) {
        Claim(@Nullable String taskId, @Nullable String contextId, String replica) {
            this(taskId, contextId, null, null, replica);
        }
    }

    /** Makes a principal the owner of ids that have none, durably. Returns false, and changes nothing, if one belongs to another. */
    boolean claim(String route, Scope owner, Claim claim) {
        if (isKnown(route, true, claim.taskId(), owner, claim.replica())
                && isKnown(route, false, claim.contextId(), owner, claim.replica())) {
            return true;
        }
        long before = removals();
        Optional<Claimed> claimed = locks.patiently(() -> database.write(
                owner.group(),
                session -> locks.take(session, keys(route, claim))
                        ? Optional.of(claim(session, route, owner, claim))
                        : Optional.empty()));
        claimed.ifPresent(now -> {
            remember(route, now.task(), claim.taskId(), true, before);
            remember(route, now.context(), claim.contextId(), false, before);
        });
        return claimed.isPresent();
    }

    /** The owners as their rows have them. */
    private record Claimed(Owned task, Owned context) {}

    private static String[] keys(String route, Claim claim) {
        var keys = new ArrayList<String>();
        if (claim.taskId() != null) {
            keys.add("gateway_task " + route + " " + claim.taskId());
        }
        if (claim.contextId() != null) {
            keys.add("gateway_context " + route + " " + claim.contextId());
        }
        return keys.toArray(String[]::new);
    }

    /**
     * Makes a principal the owner of the context of an answer without a task. It is known here at once and written without a wait: such a
     * context has nothing to read, and its owner claims it again with the next message. If other hubs may get that message, which is to
     * reach the same replica, this waits until the row is on disk. Returns false if it belongs to another.
     */
    boolean claimSoon(String route, Scope owner, String contextId, String replica) {
        if (locks.isShared()) {
            return claim(route, owner, new Claim(null, contextId, replica));
        }
        var key = new Key(route, false, contextId);
        var now = new Owned(owner, replica);
        Owned first = known.get(key);
        if (first == null && unwritten.tryAcquire()) {
            first = database.read(session -> owner(session, "gateway_context", route, contextId))
                    .orElse(null);
            Owned other = known.putIfAbsent(key, first == null ? now : first);
            first = other == null ? first : other;
            if (first == null) {
                database.submit(new ContextRow(key, now));
                return true;
            }
            unwritten.release();
        }
        return first == null || first.replica().isEmpty()
                ? claim(route, owner, new Claim(null, contextId, replica))
                : first.owner().equals(owner);
    }

    /** Row of a context that is written after the answer. */
    private final class ContextRow implements Work {
        private final Key key;
        private final Owned owned;
        private boolean written;

        ContextRow(Key key, Owned owned) {
            this.key = key;
            this.owned = owned;
        }

        @Override
        public void write(DatabaseSession session) throws SQLException {
            written = insert(session, key.route(), owned.owner(), new Claim(null, key.id(), owned.replica())) == 1
                    || claim(session, key.route(), owned.owner(), new Claim(null, key.id(), owned.replica()))
                            .isPresent();
        }

        @Override
        public void committed() {
            end(written);
        }

        @Override
        public void failed(Exception cause) {
            LOG.log(Level.WARNING, "route \"{0}\": the owner of a context was not written: {1}", key.route(), cause);
            end(false);
        }

        private void end(boolean kept) {
            unwritten.release();
            if (!kept) {
                known.remove(key, owned);
            }
        }

        @Override
        public String group() {
            return owned.owner().group();
        }

        @Override
        public boolean isPatient() {
            return true;
        }
    }

    private boolean isKnown(String route, boolean task, @Nullable String id, Scope owner, String replica) {
        Owned owned = id == null ? null : known.get(new Key(route, task, id));
        return id == null
                || owned != null
                        && owned.owner().equals(owner)
                        && (replica.isEmpty() || !owned.replica().isEmpty());
    }

    /** Returns empty if an id belongs to another principal. */
    private Optional<Claimed> claim(DatabaseSession session, String route, Scope owner, Claim claim)
            throws SQLException {
        var own = new Owned(owner, claim.replica());
        Optional<Owned> ofTask =
                claim.taskId() == null ? Optional.of(own) : owner(session, "gateway_task", route, claim.taskId());
        Optional<Owned> ofContext = claim.contextId() == null
                ? Optional.of(own)
                : owner(session, "gateway_context", route, claim.contextId());
        if (ofTask.filter(other -> !other.owner().equals(owner)).isPresent()
                || ofContext.filter(other -> !other.owner().equals(owner)).isPresent()) {
            return Optional.empty();
        }
        if (ofTask.isEmpty()) {
            Task answer = claim.answer();
            requireWritten(session.update(
                    "INSERT INTO gateway_task (route, id, context_id, group_id, owner, at_ms, name, answer, replica)"
                            + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    route,
                    claim.taskId(),
                    claim.contextId() == null ? "" : claim.contextId(),
                    owner.group(),
                    owner.owner(),
                    clock.millis(),
                    claim.name(),
                    answer == null
                            ? null
                            : cipher.seal(
                                    Json.writeEvents(List.of(new LoggedEvent(1, answer))), place(route, answer.id())),
                    claim.replica()));
        }
        if (ofContext.isEmpty()) {
            requireWritten(insert(session, route, owner, claim));
        } else if (claim.contextId() != null
                && ofContext.get().replica().isEmpty()
                && !claim.replica().isEmpty()) {
            session.update(
                    "UPDATE gateway_context SET replica = ? WHERE route = ? AND id = ?",
                    claim.replica(),
                    route,
                    claim.contextId());
            ofContext = Optional.of(own);
        }
        return Optional.of(new Claimed(ofTask.orElse(own), ofContext.orElse(own)));
    }

    /** Has the transaction repeated if another hub has written the owner of an id since it was read. */
    private static void requireWritten(int rows) throws SQLException {
        if (rows == 0) {
            throw new SQLException("another hub has written the owner of an id meanwhile", "40001");
        }
    }

    /** Writes the row of a context unless there is one. Returns the number of rows. */
    private static int insert(DatabaseSession session, String route, Scope owner, Claim claim) throws SQLException {
        return session.update(
                "INSERT INTO gateway_context (route, id, group_id, owner, replica) VALUES (?, ?, ?, ?, ?)"
                        + " ON CONFLICT DO NOTHING",
                route,
                claim.contextId(),
                owner.group(),
                owner.owner(),
                claim.replica());
    }

    private static Optional<Owned> owner(DatabaseSession session, String table, String route, @Nullable String id)
            throws SQLException {
        return session.first(
                row -> new Owned(
                        new Scope(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)),
                        DatabaseSession.text(row, 3)),
                "SELECT group_id, owner, replica FROM " + table + " WHERE route = ? AND id = ?",
                route,
                requireNonNull(id));
    }

    /** Returns the replica of a task, or empty text, if the task belongs to a principal. */
    Optional<String> task(String route, Scope owner, String taskId) {
        return replica(route, true, owner, taskId);
    }

    /** Names of the routes with a task of that id of any principal in a group. */
    public List<String> routes(String group, String taskId) {
        return database.read(session -> session.list(
                row -> DatabaseSession.text(row, 1),
                "SELECT r.name FROM gateway_route r JOIN gateway_task t ON t.route = r.name AND t.id = ?"
                        + " WHERE t.group_id = ? ORDER BY r.name",
                taskId,
                group));
    }

    /** Returns the replica of a context, or empty text, if the context belongs to a principal. */
    Optional<String> context(String route, Scope owner, String contextId) {
        return replica(route, false, owner, contextId);
    }

    private Optional<String> replica(String route, boolean task, Scope owner, String id) {
        Owned owned = known.get(new Key(route, task, id));
        if (owned == null || locks.isShared() && owned.replica().isEmpty()) { // another hub may know the replica by now
            String table = task ? "gateway_task" : "gateway_context";
            long before = removals();
            owned = database.read(session -> owner(session, table, route, id)).orElse(null);
            if (owned != null) {
                remember(route, owned, id, task, before);
            }
        }
        return Optional.ofNullable(owned)
                .filter(known -> known.owner().equals(owner))
                .map(Owned::replica);
    }

    /** The newest task to which a principal gave a name. */
    Optional<String> named(String route, Scope owner, String name) {
        return database.read(session -> session.first(
                row -> DatabaseSession.text(row, 1),
                "SELECT id FROM gateway_task WHERE route = ? AND group_id = ? AND owner = ? AND name = ?"
                        + " ORDER BY at_ms DESC LIMIT 1",
                route,
                owner.group(),
                owner.owner(),
                name));
    }

    private static String place(String route, String taskId) {
        return "answer " + taskId + " of route " + route;
    }

    /** A task that exists at the gateway only, because the remote agent answered by a message. */
    Optional<Task> answer(String route, String taskId) {
        return database.read(session -> session.first(
                        row -> Optional.ofNullable(row.getBytes(1)),
                        "SELECT answer FROM gateway_task WHERE route = ? AND id = ?",
                        route,
                        taskId))
                .flatMap(answer -> answer)
                .map(answer -> (Task) Json.readEvents(cipher.open(answer, place(route, taskId)))
                        .getFirst());
    }

    /** Place of a task in the list of its owner. */
    record Place(long at, String id) {
        static final Place BEGIN = new Place(Long.MAX_VALUE, "");
    }

    /** Tasks of a principal after a place, the newest first. */
    List<Place> tasks(String route, Scope owner, @Nullable String contextId, Place after, int limit) {
        List<Object> values = of(route, owner, contextId);
        values.addAll(List.of(after.at(), after.at(), after.id()));
        return database.read(session -> session.list(
                row -> new Place(row.getLong(1), DatabaseSession.text(row, 2)),
                "SELECT at_ms, id" + from(contextId) + " AND (at_ms < ? OR at_ms = ? AND id > ?)"
                        + " ORDER BY at_ms DESC, id LIMIT " + limit,
                values.toArray()));
    }

    /** Number of the tasks of a principal. */
    int count(String route, Scope owner, @Nullable String contextId) {
        Object[] values = of(route, owner, contextId).toArray();
        return (int) (long) database.read(session -> session.number("SELECT count(*)" + from(contextId), values));
    }

    private static String from(@Nullable String contextId) {
        return " FROM gateway_task WHERE route = ? AND group_id = ? AND owner = ?"
                + (contextId == null ? "" : " AND context_id = ?");
    }

    private static List<Object> of(String route, Scope owner, @Nullable String contextId) {
        List<Object> values = new ArrayList<>(List.of(route, owner.group(), owner.owner()));
        if (contextId != null) {
            values.add(contextId);
        }
        return values;
    }

    /** Takes the tasks of a principal away, at all hubs. Returns their number. */
    public int erase(Scope owner) {
        var erased = new AtomicInteger();
        boolean unused = locks.patiently(() -> {
            Erasure part = database.erase(session -> erase(session, owner));
            erased.addAndGet(part.tasks);
            forget();
            boolean isSeen = epochs.barrier(Epoch.GATEWAY, part.number);
            return part.isWhole ? Optional.of(isSeen) : Optional.empty();
        });
        return erased.get();
    }

    /**
     * Part of an erasure.
     *
     * @param number of the change
     * @param isWhole false if another hub was writing rows of the principal
     */
    private record Erasure(long number, int tasks, boolean isWhole) {}

    private Erasure erase(DatabaseSession session, Scope owner) throws SQLException {
        long number = epochs.bump(session, Epoch.GATEWAY);
        int unused = erase(session, "gateway_context", "", owner);
        int tasks = erase(session, "gateway_task", ", name = NULL, answer = NULL", owner);
        boolean isWhole = !locks.isShared()
                || left(session, "gateway_context", owner) + left(session, "gateway_task", owner) == 0;
        return new Erasure(number, tasks, isWhole);
    }

    /** Waits for no row that another hub is writing. */
    private int erase(DatabaseSession session, String table, String more, Scope owner) throws SQLException {
        String rows = locks.isShared()
                ? "(route, id) IN (SELECT route, id FROM " + table
                        + " WHERE group_id = ? AND owner = ? FOR UPDATE SKIP LOCKED)"
                : "group_id = ? AND owner = ?";
        return session.update(
                "UPDATE " + table + " SET owner = ?" + more + " WHERE " + rows, ERASED, owner.group(), owner.owner());
    }

    private static long left(DatabaseSession session, String table, Scope owner) throws SQLException {
        return session.number(
                "SELECT count(*) FROM " + table + " WHERE group_id = ? AND owner = ?", owner.group(), owner.owner());
    }

    /** A number that changes when owners were removed, so that earlier claims are to be made again. */
    long removals() {
        return removals.get();
    }

    /** Forgets owners in memory. To be called when rows were removed. */
    public void forget() {
        removals.incrementAndGet(); // first: see below
        known.clear();
    }

    /** @param before the removals before the owner was read: it may have been removed since */
    private void remember(String route, Owned owned, @Nullable String id, boolean task, long before) {
        if (id != null) {
            var key = new Key(route, task, id);
            known.put(key, owned);
            if (removals() != before) {
                known.remove(key, owned);
            }
        }
    }
}
