package dev.parley.registry.reports;

import dev.parley.protocol.support.Sha256;
import dev.parley.registry.reports.Usage.Key;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.BriefWait;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.spi.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Rows of measures of the hubs that share a database. Each hub writes rows of a slot of its own, all of which a report adds up. Before it
 * reads them, it has all hubs write what they have in memory. A hub that has its database alone has the slot 0. Safe for any thread.
 */
final class HubSlots {
    /** Numbers of hubs grow with each start; two hubs that run at once have other slots all the same. */
    private static final int MOST = Short.MAX_VALUE - 1;

    static final String SCHEMA = """
            -- Callers that are being erased, until all hubs have forgotten them; without their names.
            CREATE TABLE report_erasure (
                caller_hash TEXT PRIMARY KEY,
                pseudonym   TEXT NOT NULL
            );
            """;

    /** When an erasure began, by the clock of the database. */
    static final String TIMES = "ALTER TABLE report_erasure ADD COLUMN begun_ms BIGINT NOT NULL DEFAULT 0;";

    private static final String CLOCK = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

    /** After ten minutes each hub has forgotten a caller, or has ended. */
    private static final String IS_OLD = "begun_ms < " + CLOCK + " - 600000";

    private static final System.Logger LOG = System.getLogger("dev.parley.registry");

    /** Time in which reports share what all hubs have written. */
    private static final Duration PACE = Duration.ofSeconds(1);

    private static final String OWN_ROW =
            " WHERE hour_ms = ? AND group_id = ? AND caller = ? AND agent = ? AND skill = ? AND hub_slot = ?";

    /** Longer than the calls of an hour are renamed. */
    private static final Duration KEPT = Duration.ofHours(2);

    private record Renamed(long hour, Key key, String pseudonym) {}

    private record Gathering(Instant begun, CompletableFuture<Boolean> done) {
        boolean isNew(Instant now) {
            return !now.isBefore(begun) && now.isBefore(begun.plus(PACE));
        }
    }

    private final Database database;
    private final InstantSource clock;
    private final Epochs epochs;
    private final int own;
    private final Set<Renamed> renamed = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Gathering> latest =
            new AtomicReference<>(new Gathering(Instant.EPOCH, CompletableFuture.completedFuture(false)));

    HubSlots(Database database, InstantSource clock) {
        this.database = database;
        this.clock = clock;
        this.epochs = database.access().epochs();
        this.own = epochs.isShared() ? 1 + Math.toIntExact(database.access().hub() % MOST) : 0;
    }

    /** The slot of this hub. */
    int own() {
        return own;
    }

    boolean areShared() {
        return epochs.isShared();
    }

    /** @param write writes the measures that this hub has in memory, when a hub asks for them, which waits for them briefly */
    void keep(Runnable write) {
        epochs.keep(Epoch.REGISTRY, new BriefWait(write));
    }

    /** Has all hubs write their measures, once a second at most; false if one of them may not have done so. */
    boolean gather() {
        if (!areShared()) {
            return true;
        }
        var own = new Gathering(clock.instant(), new CompletableFuture<>());
        Gathering shared = latest.updateAndGet(known -> known.isNew(own.begun()) ? known : own);
        if (!shared.equals(own)) {
            return shared.done().join();
        }
        try {
            return own.done().complete(isSeen()) && own.done().join();
        } catch (StoreException refused) {
            LOG.log(System.Logger.Level.DEBUG, "a report has what hubs have written by themselves", refused);
            return false;
        } finally {
            own.done().complete(false); // if it failed
        }
    }

    private boolean isSeen() {
        return epochs.barrier(Epoch.REGISTRY, database.write(session -> epochs.bump(session, Epoch.REGISTRY)));
    }

    /**
     * Replaces the name of a caller in the memory of all hubs, and then in the rows.
     *
     * @param rows replaces it in all rows, and returns how many
     */
    int erase(String group, String caller, String pseudonym, Function<String, Integer> rows) {
        if (!areShared()) {
            return rows.apply(pseudonym);
        }
        long number = database.write(session -> {
            session.update(
                    "INSERT INTO report_erasure (caller_hash, pseudonym, begun_ms) VALUES (?, ?, " + CLOCK
                            + ") ON CONFLICT (caller_hash)"
                            + " DO UPDATE SET pseudonym = excluded.pseudonym, begun_ms = excluded.begun_ms",
                    hash(group, caller),
                    pseudonym);
            return epochs.bump(session, Epoch.REGISTRY);
        });
        boolean unused = epochs.barrier(Epoch.REGISTRY, number); // a hub that comes back later reads it
        return rows.apply(pseudonym);
    }

    /** Pseudonyms of the callers that were erased in the last minutes, by their {@linkplain #hash hashes}. Removes older ones. */
    Map<String, String> erased() {
        if (database.read(session -> session.number("SELECT count(*) FROM report_erasure WHERE " + IS_OLD)) > 0) {
            int unused = database.write(session -> session.update("DELETE FROM report_erasure WHERE caller_hash IN"
                    + " (SELECT caller_hash FROM report_erasure WHERE " + IS_OLD + " FOR UPDATE SKIP LOCKED)"));
        }
        List<Map.Entry<String, String>> rows = database.read(session -> session.list(
                row -> Map.entry(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)),
                "SELECT caller_hash, pseudonym FROM report_erasure"));
        long old = clock.instant().minus(KEPT).toEpochMilli();
        renamed.removeIf(row -> row.hour() < old);
        return rows.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    static String hash(String group, String caller) {
        return Sha256.hex(group + "\n" + caller);
    }

    /**
     * Replaces the name of a caller in the row of this hub for calls that it has just forgotten. The first time, a row of the pseudonym is
     * an earlier state of it, which another hub has renamed; later it has other calls.
     *
     * @return how many rows have changed
     */
    int rename(long hour, Key key, String pseudonym) {
        if (!areShared()) {
            return 0;
        }
        boolean isFirst = renamed.add(new Renamed(hour, key, pseudonym));
        var after = new Key(key.group(), pseudonym, key.agent(), key.skill());
        return database.write(session -> {
            // Before the other row, which another hub makes of this one.
            Optional<String> named = measures(session, hour, key);
            if (named.isEmpty()) {
                return 0;
            }
            var sum = new Measures();
            sum.add(named.get());
            if (!isFirst) {
                measures(session, hour, after).ifPresent(sum::add);
            }
            session.update("DELETE FROM report_hour" + OWN_ROW, values(hour, after));
            List<@Nullable Object> values = new ArrayList<>(List.of(pseudonym, sum.json()));
            values.addAll(List.of(values(hour, key)));
            return session.update("UPDATE report_hour SET caller = ?, measures = ?" + OWN_ROW, values.toArray());
        });
    }

    private Optional<String> measures(DatabaseSession session, long hour, Key key) throws SQLException {
        return session.first(
                row -> DatabaseSession.text(row, 1),
                "SELECT measures FROM report_hour" + OWN_ROW + " FOR UPDATE",
                values(hour, key));
    }

    private Object[] values(long hour, Key key) {
        return new Object[] {hour, key.group(), key.caller(), key.agent(), key.skill(), own};
    }
}
