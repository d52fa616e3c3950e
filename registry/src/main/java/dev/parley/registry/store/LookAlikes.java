package dev.parley.registry.store;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Flags entries in answers whose names look like those of others by the {@linkplain Entry#lookAlikes ids of the others}, so that callers do
 * not take one for the other.
 */
public record LookAlikes(Database database, EntryReader reader) {
    /** Look-alikes that are shown, besides the entries themselves. */
    private static final int ALIKE = 20;

    private static final int AT_ONCE = 500;

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
        var byLook = new LinkedHashMap<String, List<String>>();
        names.forEach((id, name) -> {
            if (!name.isEmpty()) {
                byLook.computeIfAbsent(EntryRows.look(name), look -> new ArrayList<>())
                        .add(id);
            }
        });
        if (byLook.isEmpty()) {
            return Map.of();
        }
        record Alike(long number, String id, String look) {}
        List<Alike> rows = database.read(session -> session.list(
                row -> new Alike(row.getLong(1), DatabaseSession.text(row, 2), DatabaseSession.text(row, 3)),
                inUse(byLook.size(), names.size() + ALIKE),
                byLook.keySet().toArray()));
        var alike = new LinkedHashMap<String, List<String>>();
        for (Alike row : rows) {
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
        } while (written == AT_ONCE);
    }
}
