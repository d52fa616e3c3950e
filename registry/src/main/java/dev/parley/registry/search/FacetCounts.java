package dev.parley.registry.search;

import dev.parley.protocol.support.LruMap;
import dev.parley.registry.SearchOperation.Bucket;
import dev.parley.registry.SearchOperation.Facet;
import dev.parley.registry.SearchOperation.Facets;
import dev.parley.registry.spi.Conditions;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Counts values of fields. The values of a field, and the entries that fulfil conditions, are read from the database at first use and kept
 * within a limit of memory; entries that any hub has changed since are read again before each use. The number of the newest change is the
 * version of all that is kept, and changes are committed in the order of their numbers. See {@code
 * docs/adr/0067-counts-of-facets-in-memory.md}. Safe for any thread.
 */
final class FacetCounts {
    /** Limit of the memory of the values of all fields. */
    private static final long MAX_BYTES = 24L << 20;

    /** Conditions that are kept, of one bit for each entry. */
    private static final int MAX_CONDITIONS = 256;

    /** Entries that are read again one by one; after more changes, a field or condition is read as a whole. */
    private static final int MAX_CHANGED = 500;

    /** Memory of a value besides its entries. */
    private static final int VALUE = 100;

    /**
     * Values of a field.
     *
     * @param entries keys of entries by values, as of the time when the whole field was read
     * @param changed values of entries that have changed since, by their keys
     */
    private record Field(long version, Map<String, int[]> entries, Map<Integer, List<String>> changed, long bytes) {
        Map<String, Long> counts(BitSet matched) {
            var old = (BitSet) matched.clone();
            var counts = new HashMap<String, Long>();
            changed.forEach((number, values) -> {
                old.clear(number);
                if (matched.get(number)) {
                    values.forEach(value -> counts.merge(value, 1L, Long::sum));
                }
            });
            entries.forEach((value, numbers) -> {
                long count = 0;
                for (int number : numbers) {
                    count += old.get(number) ? 1 : 0;
                }
                if (count > 0) {
                    counts.merge(value, count, Long::sum);
                }
            });
            return counts;
        }
    }

    /** Entries that fulfil conditions. */
    private record Selection(long version, BitSet numbers) {}

    private record Label(int number, String value) {}

    private final Map<String, Field> fields = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<Conditions, Selection> selections = new LruMap<>(MAX_CONDITIONS);
    private final String label;
    private long bytes;

    FacetCounts(Database database) {
        // Ranges of labels are ranges of bytes; SQLite has no other order.
        this.label = database.kind() == DatabaseKind.POSTGRESQL ? "l.label COLLATE \"C\"" : "l.label";
    }

    /**
     * Counts values in a snapshot.
     *
     * @param matched keys of entries, of which those that fulfil the conditions count; null for all
     * @param limit values of each field
     */
    Facets count(
            DatabaseSession session, @Nullable BitSet matched, Conditions conditions, List<String> names, int limit)
            throws SQLException {
        long version = session.number("SELECT coalesce(max(number), 0) FROM registry_change");
        var counted = (BitSet) selection(session, conditions, version).numbers.clone();
        if (matched != null) {
            counted.and(matched);
        }
        var facets = new LinkedHashMap<String, Facet>();
        for (String name : names) {
            facets.put(name, facet(field(session, name, version).counts(counted), limit));
        }
        return new Facets(counted.cardinality(), facets);
    }

    private static Facet facet(Map<String, Long> counts, int limit) {
        Comparator<Map.Entry<String, Long>> order =
                Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey());
        var first = new PriorityQueue<Map.Entry<String, Long>>(order.reversed());
        for (Map.Entry<String, Long> count : counts.entrySet()) {
            first.add(count);
            if (first.size() > limit) {
                first.remove();
            }
        }
        List<Bucket> buckets = first.stream()
                .sorted(order)
                .map(count -> new Bucket(count.getKey(), count.getValue()))
                .toList();
        return new Facet(buckets, counts.size() - buckets.size());
    }

    private Selection selection(DatabaseSession session, Conditions conditions, long version) throws SQLException {
        Selection kept;
        synchronized (this) {
            kept = selections.get(conditions);
        }
        if (kept != null && kept.version >= version) {
            return kept;
        }
        String select = "SELECT e.number FROM registry_entry e WHERE ";
        List<Integer> changed =
                kept == null || isAnyErased(session, kept.version) ? null : changed(session, kept.version);
        BitSet numbers;
        if (kept == null || changed == null) {
            numbers = new BitSet();
            read(session, numbers, select + conditions.where(), conditions.values());
        } else {
            numbers = (BitSet) kept.numbers.clone();
            changed.forEach(numbers::clear);
            var values = new ArrayList<@Nullable Object>(List.of(kept.version));
            values.addAll(conditions.values());
            read(session, numbers, select + "e.change > ? AND (" + conditions.where() + ")", values);
        }
        var selection = new Selection(version, numbers);
        synchronized (this) {
            selections.merge(conditions, selection, (one, other) -> one.version > other.version ? one : other);
        }
        return selection;
    }

    private static void read(DatabaseSession session, BitSet numbers, String sql, List<@Nullable Object> values)
            throws SQLException {
        var row = session.bind(sql, values.toArray());
        try (var rows = row.executeQuery()) {
            while (rows.next()) {
                numbers.set(rows.getInt(1));
            }
        }
    }

    /** Erased entries leave no change of their own; the newest erasure has one that belongs to no entry. */
    private static boolean isAnyErased(DatabaseSession session, long version) throws SQLException {
        return session.number("SELECT count(*) FROM registry_change WHERE entry = 0 AND number > ?", version) > 0;
    }

    /** Keys of the entries that are newer than a version; null if they are too many. */
    private static @Nullable List<Integer> changed(DatabaseSession session, long version) throws SQLException {
        List<Integer> changed = session.list(
                row -> row.getInt(1),
                "SELECT number FROM registry_entry WHERE change > ? ORDER BY change LIMIT " + (MAX_CHANGED + 1),
                version);
        return changed.size() > MAX_CHANGED ? null : changed;
    }

    private Field field(DatabaseSession session, String name, long version) throws SQLException {
        Field kept;
        synchronized (this) {
            kept = fields.get(name);
        }
        if (kept != null && kept.version >= version) {
            return kept;
        }
        List<Integer> changed = kept == null ? null : changed(session, kept.version);
        Field field = kept == null || changed == null || kept.changed.size() + changed.size() > MAX_CHANGED
                ? whole(session, name, version)
                : updated(session, name, version, kept, changed);
        synchronized (this) {
            Field newer = fields.get(name);
            if ((newer == null || newer.version <= version) && field.bytes <= MAX_BYTES / 2) {
                fields.put(name, field);
                bytes += field.bytes - (newer == null ? 0 : newer.bytes);
            }
            var eldest = fields.values().iterator();
            while (bytes > MAX_BYTES && eldest.hasNext()) {
                bytes -= eldest.next().bytes;
                eldest.remove();
            }
        }
        return field;
    }

    private Field whole(DatabaseSession session, String name, long version) throws SQLException {
        var entries = new HashMap<String, int[]>();
        long size = VALUE;
        // One row for each value: rows cost more than their numbers.
        List<Map.Entry<String, int[]>> values = session.list(
                row -> Map.entry(
                        DatabaseSession.text(row, 1).substring(name.length() + 1),
                        Stream.of(DatabaseSession.text(row, 2).split(",", -1))
                                .mapToInt(Integer::parseInt)
                                .toArray()),
                "SELECT l.label, string_agg(CAST(l.entry AS text), ',') FROM registry_label l WHERE " + ofField()
                        + " GROUP BY l.label",
                name + "=",
                name + ">");
        for (Map.Entry<String, int[]> value : values) {
            entries.put(value.getKey(), value.getValue());
            size += VALUE + 2L * value.getKey().length() + 4L * value.getValue().length;
        }
        return new Field(version, entries, Map.of(), size);
    }

    private Field updated(DatabaseSession session, String name, long version, Field kept, List<Integer> changed)
            throws SQLException {
        var values = new HashMap<>(kept.changed);
        changed.forEach(number -> values.put(number, new ArrayList<>()));
        List<Label> labels = session.list(
                row -> new Label(row.getInt(1), DatabaseSession.text(row, 2).substring(name.length() + 1)),
                "SELECT l.entry, l.label FROM registry_entry e CROSS JOIN registry_label l WHERE e.change > ? AND l.entry = e.number AND "
                        + ofField(),
                kept.version,
                name + "=",
                name + ">");
        labels.forEach(each ->
                values.computeIfAbsent(each.number, first -> new ArrayList<>()).add(each.value));
        long size = kept.bytes + changed.size() * (long) VALUE + labels.size() * (long) VALUE;
        return new Field(version, kept.entries, values, size);
    }

    /** Labels of a field: those between its name with an equals sign and with the character after that. */
    private String ofField() {
        return label + " >= ? AND " + label + " < ?";
    }
}
