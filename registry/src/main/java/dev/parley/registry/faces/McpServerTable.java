package dev.parley.registry.faces;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.PageToken;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.spi.Conditions;
import dev.parley.registry.spi.EntryListener;
import dev.parley.registry.store.Disclosure;
import dev.parley.registry.store.Disclosure.OwnRows;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryReader;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Table of the versions of MCP servers, by which lists select; it changes in the transactions that change the entries. Of revisions with
 * the same version, it has the newest one. Safe for any thread.
 */
final class McpServerTable implements EntryListener {
    static final ModuleTables TABLES = new ModuleTables("registry-mcp", List.of("""
            CREATE TABLE registry_mcp_server (
                entry        BIGINT NOT NULL,
                revision     INTEGER NOT NULL,
                name         TEXT NOT NULL,
                name_key     TEXT NOT NULL,
                version      TEXT NOT NULL,
                latest       INTEGER NOT NULL,
                status       TEXT NOT NULL,
                published_ms BIGINT NOT NULL,
                updated_ms   BIGINT NOT NULL,
                PRIMARY KEY (entry, revision)
            );
            CREATE INDEX registry_mcp_server_by_name ON registry_mcp_server (name_key, entry, revision);
            """));

    /** Versions of an entry that are kept, as of its documents. */
    private static final int KEPT = 100;

    /** Deleted servers that were public stay visible by name and version, so that followers delete their copies. */
    private static final String GONE = "s.status = 'deleted' AND e.visibility = 2";

    private static final String NOT_OWN = " AND e.owner <> '" + Entry.HUB + "'";

    /**
     * Conditions of a list.
     *
     * @param name exact name; null for all
     * @param search part of the name; empty for all
     * @param version {@code latest}, or an exact version; null for all
     * @param since only versions that have changed later; null for all
     * @param withDeleted also deleted servers
     * @param withOwn also agents of the hub itself
     */
    record Query(
            @Nullable String name,
            String search,
            @Nullable String version,
            @Nullable Instant since,
            boolean withDeleted,
            boolean withOwn) {}

    /** Version of a server. */
    record Version(
            long entry,
            int revision,
            String id,
            String name,
            String version,
            boolean isLatest,
            Entry.Status status,
            Instant published,
            Instant updated) {
        static Version read(ResultSet row) throws SQLException {
            return new Version(
                    row.getLong(1),
                    row.getInt(2),
                    DatabaseSession.text(row, 3),
                    DatabaseSession.text(row, 4),
                    DatabaseSession.text(row, 5),
                    row.getInt(6) == 1,
                    Entry.Status.valueOf(DatabaseSession.text(row, 7).toUpperCase(Locale.ROOT)),
                    requireNonNull(DatabaseSession.time(row, 8)),
                    requireNonNull(DatabaseSession.time(row, 9)));
        }
    }

    /** Versions in the order of their names, each newest first, and the cursor of the next page; null on the last one. */
    record Page(List<Version> versions, @Nullable String next) {}

    private final Database database;
    private final Disclosure disclosure;
    private final EntryReader reader;

    McpServerTable(Database database, Entries entries) {
        this.database = database;
        this.disclosure = entries.disclosure();
        this.reader = entries.reader();
        database.migrate(TABLES);
        entries.writer().listen(this);
        addMissing();
    }

    /** Adds the versions of entries that are older than the table. */
    private void addMissing() {
        List<Long> missing = database.read(session -> session.list(
                row -> row.getLong(1),
                "SELECT l.entry FROM registry_label l WHERE l.label = ?"
                        + " AND l.entry NOT IN (SELECT s.entry FROM registry_mcp_server s)",
                "binding=" + FaceProtocol.MCP_BINDING));
        for (long number : missing) {
            for (Entry entry : reader.byNumbers(List.of(number), Entries.ITSELF).entries()) {
                var versions = new ArrayList<Entry>();
                for (int revision = 1; revision < entry.state().revision(); revision++) {
                    reader.version(entry.id(), revision, Entries.ITSELF).ifPresent(versions::add);
                }
                versions.add(entry);
                database.writeInSlices(versions, false, (session, version) -> {
                    changed(session, number, version);
                    return 1;
                });
            }
        }
    }

    @Override
    public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
        boolean isServer = McpModel.isServer(now);
        String status = EntryModel.word(isServer ? now.state().status() : Entry.Status.DELETED);
        int revision = now.state().revision();
        Instant updated = now.state().updated();
        session.update(
                "UPDATE registry_mcp_server SET status = ?, updated_ms = ? WHERE entry = ? AND status <> ?",
                status,
                updated,
                number,
                status);
        if (!isServer) {
            return;
        }
        String version = McpModel.version(now);
        boolean isKnown = session.number(
                        "SELECT count(*) FROM registry_mcp_server WHERE entry = ? AND revision = ? AND version = ? AND name = ?"
                                + " AND updated_ms = ?",
                        number,
                        revision,
                        version,
                        McpModel.name(now),
                        updated)
                > 0;
        if (isKnown) {
            return; // of health and the like
        }
        Instant published = session.first(
                        row -> requireNonNull(DatabaseSession.time(row, 1)),
                        "SELECT published_ms FROM registry_mcp_server WHERE entry = ? AND revision = ?",
                        number,
                        revision)
                .orElse(revision == 1 ? now.state().created() : updated);
        session.update(
                "DELETE FROM registry_mcp_server WHERE entry = ? AND (revision = ? OR version = ? OR revision <= ?)",
                number,
                revision,
                version,
                revision - KEPT);
        session.update(
                "UPDATE registry_mcp_server SET latest = 0, updated_ms = ? WHERE entry = ? AND latest = 1",
                updated,
                number);
        String name = McpModel.name(now);
        session.update(
                "INSERT INTO registry_mcp_server (entry, revision, name, name_key, version, latest, status, published_ms,"
                        + " updated_ms) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?)",
                number,
                revision,
                name,
                name.toLowerCase(Locale.ROOT),
                version,
                status,
                published,
                updated);
    }

    @Override
    public void erased(DatabaseSession session, long number) throws SQLException {
        session.update("DELETE FROM registry_mcp_server WHERE entry = ?", number);
    }

    /** Position after a version: writes between two pages move none. */
    private record Cursor(long entry, long revision, String key) {
        static Cursor of(Object list, String token) {
            return PageToken.read(
                    list,
                    token,
                    3,
                    at -> new Cursor(Long.parseLong(at.get(0)), Long.parseLong(at.get(1)), at.get(2)),
                    () -> A2AException.invalidParams("cursor", "unknown (expected: nextCursor of the page before)"));
        }

        static String after(Version last, Object list) {
            return PageToken.of(
                    list, List.of(last.entry(), last.revision(), last.name().toLowerCase(Locale.ROOT)));
        }
    }

    Page page(Query query, int size, @Nullable String cursor, CallContext caller) {
        var where = new StringBuilder();
        var values = new ArrayList<@Nullable Object>();
        var filter = new EntryFilter(List.of(), List.of(), Map.of(), query.withDeleted());
        List<?> list = List.of(query, Disclosure.list(filter, caller));
        Conditions visible = disclosure.conditions(filter, caller, true);
        where.append("((").append(visible.where()).append(')');
        values.addAll(visible.values());
        where.append(query.withDeleted() ? " OR " + GONE + ")" : " AND s.status <> 'deleted')");
        where.append(query.withOwn() ? own(disclosure.own(caller)) : NOT_OWN);
        where.append(
                " AND (s.latest = 1 OR e.views IS NULL)"); // older versions of a document with views are the owner's
        if (query.name() != null) {
            where.append(" AND s.name_key = ? AND s.name = ?");
            values.add(query.name().toLowerCase(Locale.ROOT));
            values.add(query.name());
        }
        if (!query.search().isEmpty()) {
            where.append(" AND s.name_key LIKE ? ESCAPE '!'");
            values.add("%" + query.search().toLowerCase(Locale.ROOT).replaceAll("([!%_])", "!$1") + "%");
        }
        if (query.version() != null) {
            boolean isLatest = query.version().equals("latest");
            where.append(isLatest ? " AND s.latest = 1" : " AND s.version = ?");
            if (!isLatest) {
                values.add(query.version());
            }
        }
        if (query.since() != null) {
            where.append(" AND s.updated_ms > ?");
            values.add(query.since());
        }
        if (cursor != null) {
            Cursor after = Cursor.of(list, cursor);
            where.append(" AND (s.name_key > ? OR s.name_key = ? AND (s.entry > ? OR s.entry = ? AND s.revision < ?))");
            values.addAll(List.of(after.key(), after.key(), after.entry(), after.entry(), after.revision()));
        }
        values.add(size + 1);
        List<Version> versions = database.read(session -> session.list(
                Version::read,
                "SELECT s.entry, s.revision, e.id, s.name, s.version, s.latest, s.status, s.published_ms, s.updated_ms"
                        + " FROM registry_mcp_server s JOIN registry_entry e ON e.number = s.entry WHERE " + where
                        + " ORDER BY s.name_key, s.entry, s.revision DESC LIMIT ?",
                values.toArray()));
        return versions.size() <= size
                ? new Page(versions, null)
                : new Page(versions.subList(0, size), Cursor.after(versions.get(size - 1), list));
    }

    private static String own(OwnRows own) {
        String numbers = own.numbers().stream().map(String::valueOf).collect(Collectors.joining(", "));
        if (own.numbers().isEmpty()) {
            return own.areShown() ? NOT_OWN : "";
        }
        return own.areShown()
                ? NOT_OWN.replace("AND ", "AND (") + " OR s.entry IN (" + numbers + "))"
                : " AND s.entry NOT IN (" + numbers + ")";
    }

    /** The entry of a version, with the content of that version; empty if the caller may not see it. */
    Optional<Entry> entry(Version version, CallContext caller) {
        return version.isLatest()
                ? reader.find(version.id(), caller)
                : reader.version(version.id(), version.revision(), caller);
    }
}
