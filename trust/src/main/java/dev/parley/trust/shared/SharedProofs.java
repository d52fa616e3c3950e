package dev.parley.trust.shared;

import dev.parley.store.database.Database;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Proofs that any hub of a database has taken. Safe for any thread. */
public final class SharedProofs {
    /** Time between two removals of old rows by this hub. */
    private static final Duration REMOVAL = Duration.ofMinutes(1);

    /** Proofs live for a minute by the clock of the hub that gets them; clocks differ by less than the rest. */
    private static final String REMOVE_OLD =
            "DELETE FROM trust_proof WHERE seen_at < clock_timestamp() - interval '1 hour'";

    private final Database database;
    private final AtomicLong removed = new AtomicLong(System.nanoTime());

    private SharedProofs(Database database) {
        this.database = database;
    }

    /** The proofs of a database that several hubs share; null for one that a hub has alone. */
    public static @Nullable SharedProofs of(Database database) {
        if (!database.access().epochs().isShared()) {
            return null;
        }
        database.migrate(SharedTables.TABLES);
        return new SharedProofs(database);
    }

    /**
     * Takes a proof; false if a hub has taken it before.
     *
     * @param hash of the proof
     */
    public boolean take(byte[] hash) {
        long now = System.nanoTime();
        long before = removed.get();
        boolean isDue = now - before > REMOVAL.toNanos() && removed.compareAndSet(before, now);
        return database.write(session -> {
            if (isDue) {
                session.update(REMOVE_OLD);
            }
            return session.update("INSERT INTO trust_proof (proof_hash) VALUES (?) ON CONFLICT DO NOTHING", hash) > 0;
        });
    }
}
