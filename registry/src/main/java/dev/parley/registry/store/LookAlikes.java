package dev.parley.registry.store;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Flags entries in answers whose names look like those of others by the {@linkplain Entry#lookAlikes ids of the others}, so that callers do
 * not take one for the other. Safe for any thread.
 */
public final class LookAlikes {
    /** Look-alikes that are shown, besides the entries themselves. */
    private static final int ALIKE = 20;

    private static final int AT_ONCE = 500;

    /** Names whose look-alikes are known without the database: look-ups of single entries are the most frequent calls. */
    private static final int MAX_NAMES = 20_000;

    /** An entry in use. */
    private record InUse(long number, String id, String look) {}

    /**
     * Names that no two entries in use look like.
     *
     * @param changes number of changes of entries before the first one of these was read
     * @param only id of the entry that looks like a name, empty for none, by the names
     */
    private record Alone(long changes, Map<String, String> only) {
        boolean has(String id, String name) {
            String known = only.get(name);
            return known != null && (known.isEmpty() || known.equals(id));
        }

        void keep(Map<String, String> looks, List<InUse> rows) {
            looks.forEach((name, look) -> {
                List<InUse> found =
                        rows.stream().filter(row -> row.look.equals(look)).toList();
                if (found.size() < 2 && only.size() < MAX_NAMES) {
                    only.put(name, found.isEmpty() ? "" : found.getFirst().id);
                }
            });
        }
    }

    private final Database database;
    private final EntryReader reader;
    private volatile Alone alone = new Alone(-1, Map.of());

    /** Look-alikes among the entries that a reader reads. */
    public LookAlikes(Database database, EntryReader reader) {
        this.database = database;
        this.reader = reader;
    }

    /** What is known without the database; nothing if other hubs write to it, too. */
    private Alone alone() {
        long changes = reader.cache().changes();
        Alone known = alone;
        if (known.changes != changes || database.kind() != DatabaseKind.SQLITE) {
            known = new Alone(changes, new ConcurrentHashMap<>());
            alone = known;
        }
        return known;
    }

    public Entry flagged(Entry entry, CallContext caller) {
        return flagged(List.of(entry), caller).getFirst();
    }

    public List<Entry> flagged(List<Entry> all, CallContext caller) {
        var names = new LinkedHashMap<String, String>();
        all.forEach(entry -> names.put(entry.id(), entry.resource().name()));
        Map<String, List<String>> alike = of(names, caller);
        return alike.isEmpty()
                ? all
                : all.stream()
                        .map(entry -> entry.withLookAlikes(alike.getOrDefault(entry.id(), List.of())))
                        .toList();
    }

    /**
     * Entries whose names look like those of others that are in use and that the caller may see.
     *
     * @param names of entries by their ids
     * @return ids of the others, a few of them, by the ids of entries that have any
     */
    private Map<String, List<String>> of(Map<String, String> names, CallContext caller) {
        Alone known = alone();
        var looks = new LinkedHashMap<String, String>();
        var byLook = new LinkedHashMap<String, List<String>>();
        names.forEach((id, name) -> {
            if (!name.isEmpty() && !known.has(id, name)) {
                String look = looks.computeIfAbsent(name, EntryRows::look);
                byLook.computeIfAbsent(look, any -> new ArrayList<>()).add(id);
            }
        });
        if (byLook.isEmpty()) {
            return Map.of();
        }
        int limit = names.size() + ALIKE;
        List<InUse> rows = database.read(session -> session.list(
                row -> new InUse(row.getLong(1), DatabaseSession.text(row, 2), DatabaseSession.text(row, 3)),
                inUse(byLook.size(), limit),
                byLook.keySet().toArray()));
        if (rows.size() < limit) {
            known.keep(looks, rows);
        }
        var alike = new LinkedHashMap<String, List<String>>();
        for (InUse row : rows) {
            List<String> others = requireNonNull(byLook.get(row.look())).stream()
                    .filter(id -> !id.equals(row.id()))
                    .toList();
            if (!others.isEmpty()
                    && !reader.byNumbers(List.of(row.number()), caller)
                            .entries()
                            .isEmpty()) {
                others.forEach(id ->
                        alike.computeIfAbsent(id, none -> new ArrayList<>()).add(row.id()));
            }
        }
        return alike;
    }

    /**
     * Returns the statement for entries in use with so many looks. Its condition on the status is an expression, which no index has:
     * for several looks SQLite would take the index that begins with the status, and so read all entries.
     */
    static String inUse(int looks, int limit) {
        return "SELECT number, id, look FROM registry_entry WHERE look IN ("
                + String.join(", ", Collections.nCopies(looks, "?"))
                + ") AND status || '' IN ('active', 'deprecated') ORDER BY number LIMIT " + limit;
    }

    /** Pairs of entries in use whose names look alike, in words, at most so many; for operators, also of a hub that is running. */
    public static List<String> pairs(Database database) {
        return database.read(session -> !RegistryTables.haveLooks(session)
                ? List.of()
                : session.list(
                        row -> "entries " + DatabaseSession.text(row, 1) + " and " + DatabaseSession.text(row, 2)
                                + " have names that look alike: callers may take one for the other",
                        "SELECT a.id, b.id FROM registry_entry b JOIN registry_entry a ON a.look = b.look AND a.number < b.number"
                                + " WHERE b.look <> '' AND a.status IN ('active', 'deprecated') AND b.status IN ('active',"
                                + " 'deprecated') ORDER BY b.number LIMIT " + ALIKE));
    }

    /** Writes the skeletons of names that an older version of the registry has not written, page by page. */
    public void write() {
        int written;
        do {
            written = database.write(session -> {
                List<Numbered> page = EntryRows.list(
                        session,
                        "SELECT " + EntryRows.COLUMNS
                                + " FROM registry_entry e WHERE e.look = '' ORDER BY e.number LIMIT "
                                + AT_ONCE);
                for (Numbered each : page) {
                    session.update(
                            "UPDATE registry_entry SET look = ? WHERE number = ?",
                            EntryRows.look(each.entry().resource().name()),
                            each.number());
                }
                return page.size();
            });
            reader.cache().changed();
        } while (written == AT_ONCE);
    }
}
