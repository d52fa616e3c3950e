package dev.parley.store.hubs;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** The hubs that have a database of PostgreSQL open, as they have written themselves. */
public final class HubTable {
    private static final String LIVING =
            "SELECT hub_no, name, version, level, CAST(extract(epoch FROM begun_at) * 1000 AS BIGINT),"
                    + " CAST(extract(epoch FROM clock_timestamp() - beat_at) * 1000 AS BIGINT), array_to_string(agents, chr(10)),"
                    + " EXISTS (SELECT 1 FROM stream WHERE stream.hub_no = hub.hub_no),"
                    + " (SELECT count(*) FROM task JOIN stream ON stream.stream_no = task.owner WHERE stream.hub_no = hub.hub_no)"
                    + " FROM hub WHERE ended_at IS NULL ORDER BY hub_no";

    /**
     * A hub that has not ended.
     *
     * @param number never used again in its database
     * @param name host and process
     * @param level the newest form of tables and events that it knows
     * @param sinceBeat time since it has renewed its lease, by the clock of the database
     * @param agents names of the agents that it hosts
     * @param isWorking whether it works with the database; if not it waits for that
     * @param tasks unfinished tasks that it owns; those that wait for their callers are nobody's
     */
    public record LivingHub(
            long number,
            String name,
            String version,
            int level,
            Instant begun,
            Duration sinceBeat,
            List<String> agents,
            boolean isWorking,
            long tasks) {}

    private HubTable() {}

    /** Returns the hubs that have not ended, by their numbers; none for SQLite. */
    public static List<LivingHub> living(Database database) {
        if (database.kind() != DatabaseKind.POSTGRESQL) {
            return List.of();
        }
        return database.read(session -> session.list(
                row -> new LivingHub(
                        row.getLong(1),
                        DatabaseSession.text(row, 2),
                        DatabaseSession.text(row, 3),
                        row.getInt(4),
                        Instant.ofEpochMilli(row.getLong(5)),
                        Duration.ofMillis(row.getLong(6)),
                        DatabaseSession.text(row, 7).lines().toList(),
                        row.getBoolean(8),
                        row.getLong(9)),
                LIVING));
    }

    /**
     * Returns the agents that other hubs host which have not ended, as they have written a second ago or later; none for SQLite.
     *
     * @param hub number of this hub
     */
    public static Set<String> agentsOfOthers(Database database, long hub) {
        if (database.kind() != DatabaseKind.POSTGRESQL) {
            return Set.of();
        }
        return Set.copyOf(database.read(session -> session.list(
                row -> DatabaseSession.text(row, 1),
                "SELECT DISTINCT unnest(agents) FROM hub WHERE ended_at IS NULL AND hub_no <> ?",
                hub)));
    }

    /** Whether no hub has begun or ended for so long, by the clock of the database; true for SQLite. */
    public static boolean areSettled(Database database, Duration time) {
        return database.kind() != DatabaseKind.POSTGRESQL
                || database.read(session -> session.number(
                                "SELECT count(*) FROM hub WHERE greatest(begun_at, ended_at)"
                                        + " > clock_timestamp() - CAST(? || ' s' AS INTERVAL)",
                                Long.toString(time.toSeconds())))
                        == 0;
    }
}
