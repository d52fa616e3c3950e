package dev.parley.gateway.route;

import dev.parley.extension.HubCheck;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
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
import java.util.function.UnaryOperator;

/**
 * Routes in the database of the hub. Each change gets a number, by which other hubs on the database find that there is one. Safe for any
 * thread.
 */
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

    /** Tables of routes and their tasks. */
    public static final ModuleTables TABLES = new ModuleTables("gateway", List.of(SCHEMA, KEYED_TASKS));

    private final Database database;

    public RouteTable(Database database) {
        this.database = database;
        database.migrate(TABLES);
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

    /** Number of the last change; 0 for none. */
    public long epoch() {
        return database.read(session -> session.number("SELECT number FROM gateway_epoch WHERE kind = 'routes'"));
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

    /** Adds a route, or replaces the one of its name. */
    public void put(Route route) {
        database.write(session -> put(session, route));
    }

    private static int put(DatabaseSession session, Route route) throws SQLException {
        changed(session); // first, since its row has hubs write by turns
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

    /** Changes a route; empty if there is none. */
    public Optional<Route> change(String name, UnaryOperator<Route> change) {
        String row = "WHERE name = ?" + (database.kind() == DatabaseKind.POSTGRESQL ? " FOR UPDATE" : "");
        return database.admit("", session -> {
            var changed = list(session, row, name).stream().findFirst().map(change);
            if (changed.isPresent()) {
                put(session, changed.get());
            }
            return changed;
        });
    }

    /** Removes a route with the owners of its tasks; false if there is none. */
    public boolean remove(String name) {
        return database.write(session -> {
            changed(session);
            session.update("DELETE FROM gateway_task WHERE route = ?", name);
            session.update("DELETE FROM gateway_context WHERE route = ?", name);
            return session.update("DELETE FROM gateway_route WHERE name = ?", name) > 0;
        });
    }

    private static long changed(DatabaseSession session) throws SQLException {
        return session.number("INSERT INTO gateway_epoch (kind, number) VALUES ('routes', 1) ON CONFLICT (kind)"
                + " DO UPDATE SET number = gateway_epoch.number + 1 RETURNING number");
    }
}
