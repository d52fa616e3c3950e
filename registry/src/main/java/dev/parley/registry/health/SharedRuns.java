package dev.parley.registry.health;

import dev.parley.registry.health.OwnHealth.Runs;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.BriefWait;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Runs of agents that hubs which share a database host, in a table. Each hub has them in memory until one of them looks, and has all write
 * them. Safe for any thread.
 */
final class SharedRuns {
    private final Database database;
    private final Epochs epochs;
    private final Supplier<Map<String, Runs>> counted;

    private SharedRuns(Database database, Supplier<Map<String, Runs>> counted) {
        this.database = database;
        this.epochs = database.access().epochs();
        this.counted = counted;
    }

    /**
     * The runs of a database that several hubs share; null for one that a hub has alone.
     *
     * @param counted takes the runs out of the memory of this hub
     */
    static @Nullable SharedRuns of(Database database, Supplier<Map<String, Runs>> counted) {
        var runs = new SharedRuns(database, counted);
        runs.epochs.keep(Epoch.REGISTRY, new BriefWait(runs::write));
        return runs.epochs.isShared() ? runs : null;
    }

    /** Writes the runs of this hub. Runs are lost if that fails: the next look judges by later ones. */
    private void write() {
        Map<String, Runs> taken = new TreeMap<>(counted.get()); // hubs lock rows of their own only
        if (!taken.isEmpty()) {
            int unused = database.write(session -> {
                for (Map.Entry<String, Runs> agent : taken.entrySet()) {
                    add(session, agent.getKey(), agent.getValue());
                }
                return taken.size();
            });
        }
    }

    private void add(DatabaseSession session, String agent, Runs runs) throws SQLException {
        session.update(
                "INSERT INTO registry_agent_runs AS r (agent, hub_no, runs, failures, nanos) VALUES (?, ?, ?, ?, ?)"
                        + " ON CONFLICT (agent, hub_no) DO UPDATE SET runs = r.runs + excluded.runs,"
                        + " failures = r.failures + excluded.failures, nanos = r.nanos + excluded.nanos",
                agent,
                database.access().hub(),
                runs.all(),
                runs.failures(),
                runs.nanos());
    }

    /** Returns the runs of all hubs by their agents. Those of a hub that does not answer may be missing. */
    Map<String, Runs> gathered() {
        long number = database.write(session -> epochs.bump(session, Epoch.REGISTRY));
        write();
        boolean unused = epochs.barrier(Epoch.REGISTRY, number);
        List<Map.Entry<String, Runs>> rows = database.read(session -> session.list(
                row -> Map.entry(
                        DatabaseSession.text(row, 1), new Runs(row.getLong(2), row.getLong(3), row.getLong(4))),
                "SELECT agent, sum(runs), sum(failures), sum(nanos) FROM registry_agent_runs GROUP BY agent"));
        return rows.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** Forgets the runs of an agent; not those in rows that a hub is changing, which it need not wait for. */
    void judged(String agent) {
        int unused = database.write(session -> session.update(
                "DELETE FROM registry_agent_runs WHERE agent = ? AND hub_no IN (SELECT hub_no FROM registry_agent_runs"
                        + " WHERE agent = ? FOR UPDATE SKIP LOCKED)",
                agent,
                agent));
    }
}
