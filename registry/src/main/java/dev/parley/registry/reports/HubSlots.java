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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;

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

    private static final System.Logger LOG = System.getLogger("dev.parley.registry");

    /** Time in which reports share what all hubs have written. */
    private static final Duration PACE = Duration.ofSeconds(1);

    private record Gathering(Instant begun, CompletableFuture<Boolean> done) {
        boolean isNew(Instant now) {
            return !now.isBefore(begun) && now.isBefore(begun.plus(PACE));
        }
    }

    private final Database database;
    private final InstantSource clock;
    private final Epochs epochs;
    private final int own;
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
        if (shared != own) {
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
        String hash = hash(group, caller);
        long number = database.write(session -> {
            session.update(
                    "INSERT INTO report_erasure (caller_hash, pseudonym) VALUES (?, ?) ON CONFLICT (caller_hash)"
                            + " DO UPDATE SET pseudonym = excluded.pseudonym",
                    hash,
                    pseudonym);
            return epochs.bump(session, Epoch.REGISTRY);
        });
        boolean areForgotten = epochs.barrier(Epoch.REGISTRY, number);
        int changed = rows.apply(pseudonym);
        if (areForgotten) { // else a hub that comes back reads it
            int unused = database.write(session -> session.update(
                    "DELETE FROM report_erasure WHERE caller_hash = ? AND pseudonym = ?", hash, pseudonym));
        }
        return changed;
    }

    /** Pseudonyms of the callers that are being erased, by their {@linkplain #hash hashes}. */
    Map<String, String> erased() {
        List<Map.Entry<String, String>> rows = database.read(session -> session.list(
                row -> Map.entry(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)),
                "SELECT caller_hash, pseudonym FROM report_erasure"));
        return rows.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    static String hash(String group, String caller) {
        return Sha256.hex(group + "\n" + caller);
    }

    /** Replaces the name of a caller in a row of this hub, which may have been replaced in an earlier state of the row. */
    int rename(DatabaseSession session, long hour, Key key, String pseudonym) throws SQLException {
        String where =
                " WHERE hour_ms = ? AND group_id = ? AND caller = ? AND agent = ? AND skill = ? AND hub_slot = ?";
        if (session.number(
                        "SELECT count(*) FROM report_hour" + where,
                        hour,
                        key.group(),
                        key.caller(),
                        key.agent(),
                        key.skill(),
                        own)
                == 0) {
            return 0;
        }
        session.update("DELETE FROM report_hour" + where, hour, key.group(), pseudonym, key.agent(), key.skill(), own);
        return session.update(
                "UPDATE report_hour SET caller = ?" + where,
                pseudonym,
                hour,
                key.group(),
                key.caller(),
                key.agent(),
                key.skill(),
                own);
    }
}
