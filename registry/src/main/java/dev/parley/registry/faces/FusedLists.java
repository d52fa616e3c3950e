package dev.parley.registry.faces;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.LruMap;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Results of registries and their peers that were fused for one caller, for the pages after the first. Within a bound; a list that is gone
 * makes the caller search again. Hubs that share a database keep them in a table of it, since each may get the call for the next page. Safe
 * for any thread.
 */
final class FusedLists {
    /** Table of the hubs that share a database; other databases have none. */
    private static final ModuleTables TABLES = new ModuleTables("registry-pages", List.of("""
            CREATE TABLE registry_fused (
                id      TEXT PRIMARY KEY,
                owner   TEXT NOT NULL,
                made_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
                results BYTEA NOT NULL
            );
            CREATE INDEX registry_fused_made ON registry_fused (made_at);
            """));

    /** Lists that are old, or more than hubs keep; not those that another hub is removing, for which none waits. */
    private static final String REMOVE_OLD = "DELETE FROM registry_fused WHERE id IN (SELECT id FROM registry_fused"
            + " WHERE made_at < clock_timestamp() - interval '10 minutes' OR made_at < (SELECT made_at FROM registry_fused"
            + " ORDER BY made_at DESC OFFSET 1000 LIMIT 1) LIMIT 100 FOR UPDATE SKIP LOCKED)";

    private static final System.Logger LOG = System.getLogger("dev.parley.registry");
    private static final int MOST_KEPT = 200;
    private static final String PREFIX = "fused:";
    private static final String RESULTS = "results";

    /** @param owner hash of the caller */
    private record Fused(String owner, List<Map<String, @Nullable Object>> results) {}

    /** @param next token of the next page; null on the last one */
    record Page(
            List<Map<String, @Nullable Object>> results,
            @Nullable String next) {}

    private final Map<String, Fused> lists = new LruMap<>(MOST_KEPT);
    private final @Nullable Database shared;

    FusedLists(Database database) {
        boolean isShared = database.access().epochs().isShared();
        this.shared = isShared ? database : null;
        if (isShared) {
            database.migrate(TABLES);
        }
    }

    static boolean is(@Nullable String token) {
        return token != null && token.startsWith(PREFIX);
    }

    /** The first page of a list, which is kept if there are more. While hubs that share a database cannot write, it is the only one. */
    Page begin(List<Map<String, @Nullable Object>> results, int size, CallContext caller) {
        if (results.size() <= size) {
            return new Page(results, null);
        }
        String id = UUID.randomUUID().toString();
        try {
            keep(id, new Fused(owner(caller), List.copyOf(results)));
        } catch (StoreException refused) {
            LOG.log(System.Logger.Level.DEBUG, "a search has its first page only", refused);
            return new Page(results.subList(0, size), null);
        }
        return page(id, results, 0, size);
    }

    private void keep(String id, Fused fused) {
        if (shared != null) {
            int unused = shared.write(session -> {
                session.update(REMOVE_OLD);
                return session.update(
                        "INSERT INTO registry_fused (id, owner, results) VALUES (?, ?, ?)",
                        id,
                        fused.owner(),
                        Json.write(Map.of(RESULTS, fused.results())));
            });
            return;
        }
        synchronized (lists) {
            lists.put(id, fused);
        }
    }

    private @Nullable Fused kept(String id) {
        if (shared != null) {
            Optional<Fused> read = shared.read(session -> session.first(
                    row -> new Fused(DatabaseSession.text(row, 1), results(row.getBytes(2))),
                    "SELECT owner, results FROM registry_fused WHERE id = ?"
                            + " AND made_at > clock_timestamp() - interval '10 minutes'",
                    id));
            return read.orElse(null);
        }
        synchronized (lists) {
            return lists.get(id);
        }
    }

    private static List<Map<String, @Nullable Object>> results(byte[] json) {
        var results = new ArrayList<Map<String, @Nullable Object>>();
        for (Object result : (List<?>) requireNonNull(Json.read(json, Map.class).get(RESULTS))) {
            var members = new LinkedHashMap<String, @Nullable Object>();
            ((Map<?, ?>) result).forEach((name, value) -> members.put(String.valueOf(name), value));
            results.add(members);
        }
        return results;
    }

    Page page(String token, int size, CallContext caller) {
        String[] parts = token.split(":", 3);
        Fused fused = parts.length == 3 ? kept(parts[1]) : null;
        int from = fused == null || !parts[2].matches("[0-9]{1,4}") ? -1 : Integer.parseInt(parts[2]);
        if (fused == null
                || !fused.owner().equals(owner(caller))
                || from < 0
                || from > fused.results().size()) {
            throw A2AException.invalidParams(
                    "pageToken", "the results of this search are gone (expected: a new search)");
        }
        return page(parts[1], fused.results(), from, size);
    }

    private static Page page(String id, List<Map<String, @Nullable Object>> results, int from, int size) {
        int to = Math.min(results.size(), from + size);
        return new Page(results.subList(from, to), to < results.size() ? PREFIX + id + ":" + to : null);
    }

    private static String owner(CallContext caller) {
        return Sha256.hex(caller.scope().group() + "\n" + caller.caller());
    }
}
