package dev.parley.gateway.route;

import dev.parley.extension.HubCheck;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseKind;
import dev.parley.store.database.Session;
import dev.parley.store.spi.StoreException;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

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

    private final Database database;

    public RouteTable(Database database) {
        this.database = database;
        boolean isPostgresql = database.kind() == DatabaseKind.POSTGRESQL;
        database.migrate(
                "gateway",
                Stream.of(SCHEMA, KEYED_TASKS)
                        .map(script -> isPostgresql ? script.replace(" BLOB", " BYTEA") : script)
                        .toList());
    }

    /** Names of the routes in a database; none if no gateway has used it. */
    public static Set<String> names(Database database) {
        try {
            return new LinkedHashSet<>(database.read(session ->
                    session.list(row -> Session.text(row, 1), "SELECT name FROM gateway_route ORDER BY name")));
        } catch (StoreException noTable) {
            return Set.of();
        }
    }

    /** Checks of the routes in a database for operators; none if no gateway has used it. */
    public static List<HubCheck> checks(Database database) {
        return names(database).stream().map(name -> check(database, name)).toList();
    }

    private static HubCheck check(Database database, String name) {
        String about = "route \"" + name + "\": ";
        try {
            List<Route> found = database.read(session -> list(session, "WHERE name = ?", name));
            Route route = found.isEmpty() ? null : found.getFirst();
            if (route == null || route.state() == Route.State.ACTIVE && route.card() != null) {
                return new HubCheck("route", true, about + (route == null ? "removed" : "active, to " + route.url()));
            }
            String reason = switch (route.state()) {
                case ACTIVE -> "the card of " + route.url() + " was never read";
                case PAUSED -> "paused" + (route.reason().isEmpty() ? "" : ": " + route.reason());
                case CHANGED -> route.reason() + " (parley gateway show " + name + ")";
            };
            return new HubCheck("route", true, true, about + reason);
        } catch (RuntimeException damaged) { // rows that no Parley has written
            return new HubCheck("route", false, about + damaged.getMessage());
        }
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

    private static List<Route> list(Session session, String condition, Object... values) throws SQLException {
        return session.list(
                row -> Route.read(
                        Session.text(row, 1),
                        row.getBytes(2),
                        Session.text(row, 3),
                        Session.text(row, 4),
                        row.getBytes(5),
                        row.getBytes(6)),
                "SELECT " + COLUMNS + " FROM gateway_route " + condition,
                values);
    }

    /** Adds a route, or replaces the one of its name. */
    public void put(Route route) {
        database.write(session -> put(session, route));
    }

    private static long put(Session session, Route route) throws SQLException {
        session.update("DELETE FROM gateway_route WHERE name = ?", route.name());
        session.update(
                "INSERT INTO gateway_route (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?)",
                route.name(),
                route.settings(),
                route.state().name(),
                route.reason(),
                route.card(),
                route.pending());
        return changed(session);
    }

    /** Changes a route; empty if there is none. */
    public Optional<Route> change(String name, UnaryOperator<Route> change) {
        return database.write(session -> {
            Optional<Route> changed =
                    list(session, "WHERE name = ?", name).stream().findFirst().map(change);
            if (changed.isPresent()) {
                put(session, changed.get());
            }
            return changed;
        });
    }

    /** Removes a route with the owners of its tasks; false if there is none. */
    public boolean remove(String name) {
        return database.write(session -> {
            session.update("DELETE FROM gateway_task WHERE route = ?", name);
            session.update("DELETE FROM gateway_context WHERE route = ?", name);
            boolean present = session.update("DELETE FROM gateway_route WHERE name = ?", name) > 0;
            changed(session);
            return present;
        });
    }

    private static long changed(Session session) throws SQLException {
        if (session.update("UPDATE gateway_epoch SET number = number + 1 WHERE kind = 'routes'") == 0) {
            session.update("INSERT INTO gateway_epoch (kind, number) VALUES ('routes', 1)");
        }
        return session.number("SELECT number FROM gateway_epoch WHERE kind = 'routes'");
    }
}
