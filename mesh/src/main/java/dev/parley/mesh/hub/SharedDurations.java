package dev.parley.mesh.hub;

import static java.util.stream.Collectors.toMap;

import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlSystem;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Durations of tasks at all hubs that share a database of PostgreSQL: the last 100 of each hub for each skill. Those of an agent are read
 * when they are needed, at most once in some seconds. Safe for any thread.
 */
final class SharedDurations {
    /** Time for which the medians of an agent are used after they were read. */
    static final Duration LIFETIME = Duration.ofSeconds(10);

    private static final int MOST_AGENTS = 1_000;

    /** Gives the places of streams that have ended to 0. Of several in one place, one is kept. */
    private static final String FOLD = "WITH gone AS (DELETE FROM one_duration WHERE hub_slot <> 0"
            + " AND hub_slot NOT IN (SELECT stream_no FROM stream) RETURNING agent, skill, place, hub_slot, millis)"
            + " INSERT INTO one_duration (agent, skill, hub_slot, place, millis)"
            + " SELECT DISTINCT ON (agent, skill, place) agent, skill, 0, place, millis FROM gone"
            + " ORDER BY agent, skill, place, hub_slot DESC"
            + " ON CONFLICT (agent, skill, hub_slot, place) DO UPDATE SET millis = excluded.millis";

    private static final String MEDIANS =
            "SELECT skill, CAST(percentile_cont(0.5) WITHIN GROUP (ORDER BY millis) AS BIGINT) FROM one_duration"
                    + " WHERE agent = ? GROUP BY skill";

    /** Medians of an agent by skill, in milliseconds. */
    private record Medians(long readAt, Map<String, Long> bySkill) {}

    private final Database database;
    private final Duration lifetime;
    /** By agent. Guarded by itself. */
    private final Map<String, Medians> known = new LruMap<>(MOST_AGENTS);

    SharedDurations(Database database, Duration lifetime) {
        this.database = database;
        this.lifetime = lifetime;
    }

    /** Keeps durations of hubs that have ended. */
    static void fold(Database database) {
        database.write(session -> session.update(FOLD));
    }

    /** The places of this hub: the number of its stream. */
    long slot() {
        return ((PostgresqlSystem) database.system()).stream();
    }

    Optional<Duration> median(String agent, String skill) {
        long now = System.nanoTime();
        Medians medians;
        synchronized (known) {
            medians = known.get(agent);
        }
        if (medians == null || now - medians.readAt() >= lifetime.toNanos()) {
            medians = new Medians(now, read(agent));
            synchronized (known) {
                known.put(agent, medians);
            }
        }
        return Optional.ofNullable(medians.bySkill().get(skill)).map(Duration::ofMillis);
    }

    private Map<String, Long> read(String agent) {
        return database
                .read(session ->
                        session.list(row -> Map.entry(DatabaseSession.text(row, 1), row.getLong(2)), MEDIANS, agent))
                .stream()
                .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
    }
}
