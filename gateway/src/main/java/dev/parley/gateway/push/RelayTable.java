package dev.parley.gateway.push;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.shared.KeyLocks;
import dev.parley.store.spi.ModuleTables;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Relays in the database of the hub, and the events that they have received. Safe for any thread. */
final class RelayTable {
    /** Events of one task that are kept at most. */
    static final int MOST_EVENTS = 10_000;

    private static final String SCHEMA = """
            CREATE TABLE gateway_relay (
                id         TEXT PRIMARY KEY,
                route      TEXT NOT NULL,
                group_id   TEXT NOT NULL,
                owner      TEXT NOT NULL,
                token_hash TEXT NOT NULL,
                version    TEXT NOT NULL,
                shadow     TEXT NOT NULL,
                shadow_context TEXT NOT NULL,
                task_id    TEXT,
                context_id TEXT,
                replica    TEXT
            );
            CREATE INDEX gateway_relay_by_task ON gateway_relay (route, task_id);
            CREATE INDEX gateway_relay_by_shadow ON gateway_relay (shadow);
            CREATE TABLE gateway_relay_event (
                relay    TEXT NOT NULL,
                number   BIGINT NOT NULL,
                delivery TEXT NOT NULL,
                event    BLOB NOT NULL,
                PRIMARY KEY (relay, number)
            );
            """;
    private static final String COLUMNS =
            "id, route, group_id, owner, token_hash, version, shadow, shadow_context, task_id, context_id, replica";

    static final ModuleTables TABLES = new ModuleTables("gateway_push", List.of(SCHEMA));

    /** Begin of the locks of relays. */
    static final String KEY = "gateway_relay ";

    private final Database database;
    private final SharedRuns runs;
    private final KeyLocks locks;
    private final ValueCipher cipher;

    /**
     * @param runs are told of changes
     * @param cipher encrypts events
     */
    RelayTable(Database database, SharedRuns runs, ValueCipher cipher) {
        this.database = database;
        this.runs = runs;
        this.locks = runs.locks();
        this.cipher = cipher;
        database.migrate(TABLES);
    }

    /**
     * The webhook of the gateway at a remote agent for one task.
     *
     * @param tokenHash of the token that notifications have to bring
     * @param version of A2A in which the agent notifies; empty if the gateway follows the task instead
     * @param shadow id of the task of the hub whose webhooks are those of the caller
     * @param shadowContext context of that task
     * @param taskId of the task of the agent; null while it has not answered yet
     * @param replica of the task
     */
    record Relay(
            String id,
            String route,
            Scope scope,
            String tokenHash,
            String version,
            String shadow,
            String shadowContext,
            @Nullable String taskId,
            @Nullable String contextId,
            @Nullable String replica) {
        boolean isBound() {
            return taskId != null;
        }

        boolean isFollowed() {
            return version.isEmpty();
        }
    }

    void add(Relay relay) {
        database.write(session -> session.update(
                "INSERT INTO gateway_relay (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                relay.id(),
                relay.route(),
                relay.scope().group(),
                relay.scope().owner(),
                relay.tokenHash(),
                relay.version(),
                relay.shadow(),
                relay.shadowContext(),
                relay.taskId(),
                relay.contextId(),
                relay.replica()));
    }

    /** A change of a relay in its transaction; returns its result. */
    private interface Change<T> {
        T make(DatabaseSession session) throws SQLException;
    }

    /** Makes a change that no other hub makes at the same time. */
    private <T> T alone(String key, Change<T> change) {
        return locks.patiently(() -> database.write(
                session -> locks.take(session, KEY + key) ? Optional.of(change.make(session)) : Optional.empty()));
    }

    /** {@link #alone} of one relay, whose run looks at it afterwards. */
    private <T> T change(Relay relay, Change<T> change) {
        T changed = alone(relay.id(), session -> {
            runs.tell(session, relay.shadow());
            return change.make(session);
        });
        runs.told();
        return changed;
    }

    /**
     * Names the task of a relay, unless it has one already.
     *
     * @param isOnly whether the task can have one relay only
     * @return the id of the relay, or that of the other relay that the task has
     */
    String bind(Relay relay, String taskId, String contextId, @Nullable String replica, boolean isOnly) {
        String task = relay.route() + " " + relay.scope().group() + "/"
                + relay.scope().owner() + " " + taskId;
        String bound = alone(task, session -> {
            if (isOnly) {
                Optional<String> other = session.first(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT id FROM gateway_relay WHERE route = ? AND task_id = ? AND group_id = ? AND owner = ?"
                                + " AND id <> ? ORDER BY id LIMIT 1",
                        relay.route(),
                        taskId,
                        relay.scope().group(),
                        relay.scope().owner(),
                        relay.id());
                if (other.isPresent()) {
                    return other.get();
                }
            }
            runs.tell(session, relay.shadow());
            session.update(
                    "UPDATE gateway_relay SET task_id = ?, context_id = ?, replica = ? WHERE id = ? AND task_id IS NULL",
                    taskId,
                    contextId,
                    replica,
                    relay.id());
            return relay.id();
        });
        runs.told();
        return bound;
    }

    /** Has the gateway follow the task of a relay, whose agent does not notify. */
    void follow(String id) {
        find(id).ifPresent(relay ->
                change(relay, session -> session.update("UPDATE gateway_relay SET version = '' WHERE id = ?", id)));
    }

    Optional<Relay> find(String id) {
        return first("id = ?", id);
    }

    Optional<Relay> ofShadow(String shadow) {
        return first("shadow = ?", shadow);
    }

    Optional<Relay> ofTask(String route, Scope scope, String taskId) {
        return first(
                "route = ? AND task_id = ? AND group_id = ? AND owner = ?",
                route,
                taskId,
                scope.group(),
                scope.owner());
    }

    /** The relays of a route. */
    List<Relay> ofRoute(String route) {
        return list("route = ?", route);
    }

    /** A page of all relays after an id; empty text for the first one. */
    List<Relay> after(String id, int limit) {
        return list("id > ? ORDER BY id LIMIT " + limit, id);
    }

    private Optional<Relay> first(String condition, Object... values) {
        return list(condition, values).stream().findFirst();
    }

    private List<Relay> list(String condition, Object... values) {
        return database.read(session -> session.list(
                row -> new Relay(
                        DatabaseSession.text(row, 1),
                        DatabaseSession.text(row, 2),
                        new Scope(DatabaseSession.text(row, 3), DatabaseSession.text(row, 4)),
                        DatabaseSession.text(row, 5),
                        DatabaseSession.text(row, 6),
                        DatabaseSession.text(row, 7),
                        DatabaseSession.text(row, 8),
                        textOrNull(row, 9),
                        textOrNull(row, 10),
                        textOrNull(row, 11)),
                "SELECT " + COLUMNS + " FROM gateway_relay WHERE " + condition,
                values));
    }

    private static @Nullable String textOrNull(ResultSet row, int column) throws SQLException {
        return row.getObject(column) == null ? null : DatabaseSession.text(row, column);
    }

    void remove(Relay relay) {
        int unused = change(relay, session -> {
            session.update("DELETE FROM gateway_relay_event WHERE relay = ?", relay.id());
            return session.update("DELETE FROM gateway_relay WHERE id = ?", relay.id());
        });
    }

    /** Removes the relays of a principal, and their events. */
    void erase(Scope owner) {
        if (!runs.isShared()) {
            eraseAll(owner);
            return;
        }
        for (Relay relay : list("group_id = ? AND owner = ?", owner.group(), owner.owner())) {
            boolean unused = locks.patiently(() -> database.erase(session ->
                    locks.take(session, KEY + relay.id()) ? Optional.of(erase(session, relay)) : Optional.empty()));
        }
        runs.told();
    }

    private void eraseAll(Scope owner) {
        int unused = database.erase(session -> {
            session.update(
                    "DELETE FROM gateway_relay_event WHERE relay IN"
                            + " (SELECT id FROM gateway_relay WHERE group_id = ? AND owner = ?)",
                    owner.group(),
                    owner.owner());
            return session.update(
                    "DELETE FROM gateway_relay WHERE group_id = ? AND owner = ?", owner.group(), owner.owner());
        });
    }

    private boolean erase(DatabaseSession session, Relay relay) throws SQLException {
        runs.tell(session, relay.shadow());
        session.update("DELETE FROM gateway_relay_event WHERE relay = ?", relay.id());
        return session.update("DELETE FROM gateway_relay WHERE id = ?", relay.id()) > 0;
    }

    /** Removes the events of a task that has ended. */
    void clear(String id) {
        int unused = alone(id, session -> session.update("DELETE FROM gateway_relay_event WHERE relay = ?", id));
    }

    /**
     * Adds events, unless the same delivery has brought them before; returns false if there are too many.
     *
     * @param delivery id of the delivery; null if the agent gives none
     */
    boolean add(Relay relay, @Nullable String delivery, List<TaskEvent> events) {
        return change(relay, session -> add(session, relay.id(), delivery, events));
    }

    private boolean add(DatabaseSession session, String id, @Nullable String delivery, List<TaskEvent> events)
            throws SQLException {
        if (session.number("SELECT count(*) FROM gateway_relay WHERE id = ?", id) == 0) {
            return true; // it was removed meanwhile
        }
        String named = delivery == null ? "" : Sha256.hex(delivery);
        if (delivery != null
                && session.number(
                                "SELECT count(*) FROM gateway_relay_event WHERE relay = ? AND delivery = ?", id, named)
                        > 0) {
            return true;
        }
        long number = session.number("SELECT max(number) FROM gateway_relay_event WHERE relay = ?", id);
        if (number + events.size() > MOST_EVENTS) {
            return false;
        }
        for (TaskEvent event : events) {
            number++;
            session.update(
                    "INSERT INTO gateway_relay_event (relay, number, delivery, event) VALUES (?, ?, ?, ?)",
                    id,
                    number,
                    named,
                    cipher.seal(Json.writeEvent(event), place(id, number)));
        }
        return true;
    }

    /** The events after a number, in order. */
    List<TaskEvent> events(String id, long after, int limit) {
        return database.read(session -> session.list(
                row -> read(cipher.open(row.getBytes(1), place(id, row.getLong(2)))),
                "SELECT event, number FROM gateway_relay_event WHERE relay = ? AND number > ? ORDER BY number LIMIT "
                        + limit,
                id,
                after));
    }

    private static String place(String id, long number) {
        return "event " + number + " of relay " + id;
    }

    private static TaskEvent read(byte[] json) {
        return Json.readEvents(("[" + new String(json, UTF_8) + "]").getBytes(UTF_8))
                .getFirst();
    }
}
