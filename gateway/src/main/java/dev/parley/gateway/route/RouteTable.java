package dev.parley.gateway.route;

import dev.parley.extension.HubCheck;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.SharedCopy;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Routes in the database of the hub. A change has the other hubs on the database read them again. Safe for any thread. */
public final class RouteTable {
    private static final String COLUMNS = "name, settings, state, reason, card, pending";

    private static final String SCHEMA = """
            CREATE TABLE gateway_route (
                name     TEXT PRIMARY KEY,
                settings BLOB NOT NULL,
                state    TEXT NOT NULL,
                reason   TEXT NOT NULL,
                card     BLOB,
                pending  BLOB
            );
            CREATE TABLE gateway_epoch (
                kind   TEXT PRIMARY KEY,
                number BIGINT NOT NULL
            );
            CREATE TABLE gateway_task (
                route      TEXT NOT NULL,
                id         TEXT NOT NULL,
                context_id TEXT NOT NULL,
                group_id   TEXT NOT NULL,
                owner      TEXT NOT NULL,
                at_ms      BIGINT NOT NULL,
                name       TEXT,
                answer     BLOB,
                replica    TEXT NOT NULL,
                PRIMARY KEY (route, id)
            ) ROWLESS;
            CREATE INDEX gateway_task_by_owner ON gateway_task (route, group_id, owner, at_ms, id);
            CREATE INDEX gateway_task_by_name ON gateway_task (route, group_id, owner, name, at_ms) WHERE name IS NOT NULL;
            CREATE TABLE gateway_context (
                route    TEXT NOT NULL,
                id       TEXT NOT NULL,
                group_id TEXT NOT NULL,
                owner    TEXT NOT NULL,
                replica  TEXT NOT NULL,
                PRIMARY KEY (route, id)
            ) ROWLESS;
            """;

    /** Rows with answers, which may be long, have a number of their own. */
    private static final String KEYED_TASKS = """
            CREATE TABLE gateway_keyed_task (
                route      TEXT NOT NULL,
                id         TEXT NOT NULL,
                context_id TEXT NOT NULL,
                group_id   TEXT NOT NULL,
                owner      TEXT NOT NULL,
                at_ms      BIGINT NOT NULL,
                name       TEXT,
                replica    TEXT NOT NULL,
                answer     BLOB,
                PRIMARY KEY (route, id)
            );
            INSERT INTO gateway_keyed_task (route, id, context_id, group_id, owner, at_ms, name, replica, answer)
                SELECT route, id, context_id, group_id, owner, at_ms, name, replica, answer FROM gateway_task;
            DROP TABLE gateway_task;
            ALTER TABLE gateway_keyed_task RENAME TO gateway_task;
            CREATE INDEX gateway_task_by_owner ON gateway_task (route, group_id, owner, at_ms, id);
            CREATE INDEX gateway_task_by_name ON gateway_task (route, group_id, owner, name, at_ms) WHERE name IS NOT NULL;
            """;

    /** Changes are counted for all modules in one table. */
    private static final String WITHOUT_EPOCH = "DROP TABLE gateway_epoch;";

    /** Tables of routes and their tasks. */
    public static final ModuleTables TABLES = new ModuleTables("gateway", List.of(SCHEMA, KEYED_TASKS, WITHOUT_EPOCH));

    private final Database database;
    private final SharedCopy copy;

    public RouteTable(Database database) {
        this.database = database;
        this.copy = new SharedCopy(database.access().epochs(), Epoch.GATEWAY);
        database.migrate(TABLES);
    }

    /**
     * All rows.
     *
     * @param routes by name
     * @param damaged why rows that no Parley has written cannot be read, by the names of their routes
     */
    public record Content(List<Route> routes, Map<String, String> damaged) {}

    /** Has a copy of the rows read again, by {@link #read}, after each change by another hub. To be called before the first reading. */
    public void keep(Runnable reading) {
        copy.keep(reading);
    }

    /** Reads the rows, and passes them on unless a reading that began later has done so. */
    public void read(Consumer<Content> replacement) {
        long turn = copy.beginReading();
        Content content = database.read(session -> {
            var damaged = new LinkedHashMap<String, String>();
            return new Content(rows(session, damaged, "ORDER BY name"), damaged);
        });
        copy.replace(turn, () -> replacement.accept(content));
    }

    /** Makes a change of rows, and of the copy of this hub. Returns when all hubs have read it, or answer nothing. */
    public <T> T changing(Supplier<T> change) {
        return copy.change(change);
    }

    /** Names of the routes in a database; none if no gateway has used it. */
    public static Set<String> names(Database database) {
        try {
            return new LinkedHashSet<>(database.read(session ->
                    session.list(row -> DatabaseSession.text(row, 1), "SELECT name FROM gateway_route ORDER BY name")));
        } catch (StoreException noTable) {
            return Set.of();
        }
    }

    /** Checks of the routes in a database for operators; none if no gateway has used it. */
    public static List<HubCheck> checks(Database database) {
        if (names(database).isEmpty()) {
            return List.of();
        }
        return database.read(session -> {
            var damaged = new LinkedHashMap<String, String>();
            var checks = new ArrayList<HubCheck>();
            for (Route route : rows(session, damaged, "ORDER BY name")) {
                boolean isServed = route.state() == Route.State.ACTIVE && route.card() != null;
                String state = switch (route.state()) {
                    case ACTIVE ->
                        isServed ? "active, to " + route.url() : "the card of " + route.url() + " was never read";
                    case PAUSED -> "paused" + (route.reason().isEmpty() ? "" : ": " + route.reason());
                    case CHANGED -> route.reason() + " (parley gateway show " + route.name() + ")";
                };
                checks.add(new HubCheck("route", true, !isServed, "route \"" + route.name() + "\": " + state));
            }
            damaged.forEach(
                    (name, reason) -> checks.add(new HubCheck("route", false, "route \"" + name + "\": " + reason)));
            return checks;
        });
    }

    public List<Route> all() {
        return database.read(session -> list(session, "ORDER BY name"));
    }

    public Optional<Route> named(String name) {
        return database.read(
                session -> list(session, "WHERE name = ?", name).stream().findFirst());
    }

    /** Why rows that no Parley has written cannot be read, by the names of their routes; all other methods leave them out. */
    public Map<String, String> damaged() {
        return database.read(session -> {
            var reasons = new LinkedHashMap<String, String>();
            rows(session, reasons, "ORDER BY name");
            return reasons;
        });
    }

    private static List<Route> list(DatabaseSession session, String condition, Object... values) throws SQLException {
        return rows(session, new LinkedHashMap<>(), condition, values);
    }

    private static List<Route> rows(
            DatabaseSession session, Map<String, String> damaged, String condition, Object... values)
            throws SQLException {
        return session
                .list(row -> read(row, damaged), "SELECT " + COLUMNS + " FROM gateway_route " + condition, values)
                .stream()
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<Route> read(ResultSet row, Map<String, String> damaged) throws SQLException {
        String name = DatabaseSession.text(row, 1);
        try {
            return Optional.of(Route.read(
                    name,
                    row.getBytes(2),
                    DatabaseSession.text(row, 3),
                    DatabaseSession.text(row, 4),
                    row.getBytes(5),
                    row.getBytes(6)));
        } catch (RuntimeException unreadable) {
            damaged.put(name, "the row cannot be read: " + unreadable.getMessage());
            return Optional.empty();
        }
    }

    /** A change in its transaction; returns its result. */
    private interface Change<T> {
        T make(DatabaseSession session) throws SQLException;
    }

    private record Outcome<T>(long number, T result) {}

    /** Counts a change first, since the row of the number has hubs write by turns. */
    private <T> T write(Change<T> change) {
        Outcome<T> made = database.admit("", session -> {
            long number = copy.bump(session);
            return new Outcome<>(number, change.make(session));
        });
        copy.changed(made.number);
        return made.result;
    }

    /** Adds a route, or replaces the one of its name. */
    public void put(Route route) {
        int unused = changing(() -> write(session -> put(session, route)));
    }

    /** Adds a route, or replaces the one of its name that has another address. */
    public void configure(Route route) {
        int unused = changing(() -> write(session -> {
            boolean isKnown = list(session, "WHERE name = ?", route.name()).stream()
                    .anyMatch(row -> row.url().equals(route.url()));
            return isKnown ? 0 : put(session, route);
        }));
    }

    private static int put(DatabaseSession session, Route route) throws SQLException {
        session.update("DELETE FROM gateway_route WHERE name = ?", route.name());
        return session.update(
                "INSERT INTO gateway_route (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?)",
                route.name(),
                route.settings(),
                route.state().name(),
                route.reason(),
                route.card(),
                route.pending());
    }

    /**
     * Changes a route, unless the change returns it as it is; empty if there is none.
     *
     * @throws dev.parley.protocol.A2AException thrown by the change; nothing is written
     */
    public Optional<Route> change(String name, UnaryOperator<Route> change) {
        return changing(() -> write(session -> {
            Optional<Route> before =
                    list(session, "WHERE name = ?", name).stream().findFirst();
            Optional<Route> changed = before.map(change);
            if (changed.isPresent() && !changed.equals(before)) {
                put(session, changed.get());
            }
            return changed;
        }));
    }

    /**
     * {@link #change} by what a hub has read, which another one may have read before: has no hub read the rows again if the change returns
     * the row as it is.
     *
     * @param change may be called twice
     */
    public Optional<Route> changeIfDue(String name, UnaryOperator<Route> change) {
        return changing(() -> {
            if (isShared()) {
                Optional<Route> before = named(name);
                if (before.map(change).equals(before)) {
                    return before;
                }
            }
            return change(name, change);
        });
    }

    private boolean isShared() {
        return database.access().epochs().isShared();
    }

    /** Removes a route with the owners of its tasks; false if there is none. */
    public boolean remove(String name) {
        return changing(() -> (!isShared() || isThere(name))
                && write(session -> {
                    session.update("DELETE FROM gateway_task WHERE route = ?", name);
                    session.update("DELETE FROM gateway_context WHERE route = ?", name);
                    return session.update("DELETE FROM gateway_route WHERE name = ?", name) > 0;
                }));
    }

    private boolean isThere(String name) {
        return database.<Long>read(session -> session.number("SELECT count(*) FROM gateway_route WHERE name = ?", name))
                > 0;
    }
}
