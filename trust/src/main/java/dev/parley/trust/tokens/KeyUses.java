package dev.parley.trust.tokens;

import static java.util.Objects.requireNonNull;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Last uses of API keys, to the second; in the database to the hour. Safe for any thread. */
public final class KeyUses {
    private static final System.Logger LOG = System.getLogger("dev.parley.trust");

    /** Time between two writes of the last use of a key. */
    private static final Duration WRITES = Duration.ofHours(1);

    /** Last use of a key, and the last one that was written. */
    private record Use(Instant at, Instant written) {}

    private final Database database;
    private final Map<String, Use> uses = new ConcurrentHashMap<>();

    public KeyUses(Database database) {
        this.database = database;
    }

    /** Reads the uses of keys that were not used since. */
    public void load(DatabaseSession session) throws SQLException {
        session.list(
                        row -> Map.entry(DatabaseSession.text(row, 1), requireNonNull(DatabaseSession.time(row, 2))),
                        "SELECT key_id, used_ms FROM trust_key WHERE used_ms IS NOT NULL")
                .forEach(use -> uses.putIfAbsent(use.getKey(), new Use(use.getValue(), use.getValue())));
    }

    /** Returns the last use of the key of an id; null if it has not been used. */
    public @Nullable Instant last(String id) {
        Use use = uses.get(id);
        return use == null ? null : use.at();
    }

    /** Remembers the use of a key, which is written off the thread of the call. */
    public void note(String id, Instant now) {
        Use before = uses.get(id);
        if (before != null && now.isBefore(before.at().plusSeconds(1))) {
            return;
        }
        boolean isDue = before == null || !now.isBefore(before.written().plus(WRITES));
        Instant written = before == null || isDue ? now : before.written();
        var use = new Use(now, written);
        boolean isFirst = before == null ? uses.putIfAbsent(id, use) == null : uses.replace(id, before, use);
        if (isFirst && isDue) {
            Thread.ofVirtual().name("key-use").start(() -> write(id, now));
        }
    }

    private void write(String id, Instant at) {
        try {
            database.write(session -> session.update("UPDATE trust_key SET used_ms = ? WHERE key_id = ?", at, id));
        } catch (RuntimeException failure) {
            // The next write is due in an hour. A hub that restarts before shows an earlier use.
            LOG.log(System.Logger.Level.DEBUG, "the use of key " + id + " was not written", failure);
        }
    }

    public void forget(Collection<String> ids) {
        uses.keySet().removeAll(ids);
    }
}
