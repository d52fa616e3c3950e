package dev.parley.hub.extensions;

import dev.parley.hub.extensions.DurableTimers.Row;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The table of timers for hubs that share a database of PostgreSQL, by the clock of the database. A timer that is taken names the stream of
 * its hub: when that has ended, it is due at once.
 *
 * <p>Statements that look for timers to take skip rows that another hub has locked, since it may pause in its transaction. Safe for any
 * thread.
 */
final class SharedTimers {
    private static final String NOW = "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)";

    /** In place of a timer of the same id, which another hub may add at the same time. */
    private static final String SET = "INSERT INTO extension_timer (name, id, due_ms, failures, content) VALUES (?, ?, "
            + NOW + " + ?, 0, ?) ON CONFLICT (name, id) DO UPDATE SET due_ms = excluded.due_ms, failures = 0,"
            + " content = excluded.content, claimed_by = NULL";

    /** The wait for the first timer of each name, and the streams that have ended with timers. */
    private static final String NEXT =
            "SELECT name, (SELECT min(due_ms) FROM extension_timer WHERE extension_timer.name = names.name) - " + NOW
                    + ", (SELECT string_agg(DISTINCT CAST(claimed_by AS TEXT), ',') FROM extension_timer"
                    + " WHERE claimed_by IS NOT NULL AND NOT EXISTS (SELECT 1 FROM stream WHERE stream_no = claimed_by))"
                    + " FROM unnest(string_to_array(?, chr(10))) AS names (name)";

    /** The streams are a parameter: a row that another hub takes meanwhile has another one, and is left. */
    private static final String FREE = "WITH ended AS MATERIALIZED (SELECT name, id FROM extension_timer"
            + " WHERE claimed_by = ANY (CAST(string_to_array(?, ',') AS BIGINT[])) FOR UPDATE SKIP LOCKED)"
            + " UPDATE extension_timer AS timer SET due_ms = " + NOW + ", claimed_by = NULL FROM ended"
            + " WHERE timer.name = ended.name AND timer.id = ended.id";

    private static final String CLAIM = "WITH due AS MATERIALIZED (SELECT id, due_ms FROM extension_timer"
            + " WHERE name = ? AND due_ms <= " + NOW + " ORDER BY due_ms LIMIT ? FOR UPDATE SKIP LOCKED)"
            + " UPDATE extension_timer AS timer SET due_ms = " + NOW + " + ?, claimed_by = ? FROM due"
            + " WHERE timer.name = ? AND timer.id = due.id"
            + " RETURNING timer.id, due.due_ms, timer.due_ms, failures, content";

    private static final String REPEAT = "UPDATE extension_timer SET due_ms = " + NOW
            + " + ?, failures = ?, claimed_by = NULL WHERE name = ? AND id = ? AND due_ms = ?";

    private final Database database;

    /** A timer that is taken, and since when it was due. */
    private record Claim(long since, Row row) {}

    SharedTimers(Database database) {
        this.database = database;
    }

    /** Sets a timer that is due after some milliseconds, or at once if there are none left. */
    void set(DatabaseSession session, Row row, long wait) throws SQLException {
        session.update(SET, row.name(), row.id(), wait, row.content());
    }

    /** The milliseconds until the first timer of each name is due, of those that have one. Timers of hubs that have ended are due. */
    Map<String, Long> next(Collection<String> names) {
        var next = new HashMap<String, Long>();
        @Nullable String ended = next(names, next);
        if (ended != null) {
            database.write(session -> session.update(FREE, ended));
            var unused = next(names, next);
        }
        return next;
    }

    /** Returns the streams that have ended with timers; null for none. */
    private @Nullable String next(Collection<String> names, Map<String, Long> next) {
        @Nullable String[] ended = {null};
        database.read(session -> session.list(
                row -> {
                    long wait = row.getLong(2);
                    if (!row.wasNull()) {
                        next.put(DatabaseSession.text(row, 1), wait);
                    }
                    ended[0] = DatabaseSession.text(row, 3);
                    return wait;
                },
                NEXT,
                String.join("\n", names)));
        return ended[0];
    }

    /** Takes timers of a name that are due, so many at most, in the order of their times. */
    List<Row> claim(String name, int limit, Duration lease) {
        long stream = ((PostgresqlSystem) database.system()).stream();
        List<Claim> claims = database.write(
                session -> session.list(row -> claim(name, row), CLAIM, name, limit, lease.toMillis(), stream, name));
        return claims.stream()
                .sorted(Comparator.comparingLong(Claim::since))
                .map(Claim::row)
                .toList();
    }

    private static Claim claim(String name, ResultSet row) throws SQLException {
        return new Claim(
                row.getLong(2),
                new Row(
                        name,
                        DatabaseSession.text(row, 1),
                        row.getLong(3),
                        row.getInt(4),
                        DatabaseSession.text(row, 5)));
    }

    /** Makes a timer that was taken due again after a pause; false if it was set anew or taken by another hub meanwhile. */
    boolean repeat(Row row, long pause) {
        return database.write(
                        session -> session.update(REPEAT, pause, row.failures() + 1, row.name(), row.id(), row.due()))
                > 0;
    }
}
