package dev.parley.registry.store;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.PageToken;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.spi.Conditions;
import dev.parley.registry.store.Disclosure.OwnRows;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Conditions of a list of entries as SQL. */
final class EntryQuery {
    /** Columns of fields that every entry has once; a name is in lower case. */
    private static final Map<String, String> COLUMNS = Map.of("id", "id", "name", "name");

    /** Columns of orders; a minus before the name of an order turns it around. */
    private static final Map<String, String> ORDERS =
            Map.of("name", "name", "change", "change", "updated", "updated_ms", "created", "created_ms");

    /** Largest number of values of all fields of a filter. */
    private static final int MAX_VALUES = 100;

    /** Largest sum of the bytes of a page, apart from its first entry. */
    static final int PAGE_BYTES = 4 << 20;

    /** Bytes of the newest document of an entry. */
    private static final String DOCUMENT_BYTES =
            " + coalesce((SELECT length(d.bytes) FROM registry_document d WHERE d.entry = e.number ORDER BY d.revision DESC"
                    + " LIMIT 1), 0)";

    /** Whether labels are looked up by entry: for conditions of a few entries, where a list of all entries with a label is long. */
    private final boolean isPerEntry;

    private final StringBuilder where = new StringBuilder("1 = 1");
    private final List<@Nullable Object> values = new ArrayList<>();

    /**
     * Conditions for what a caller sees.
     *
     * @param own rows of the hub's own agents that the caller may know
     */
    EntryQuery(EntryFilter filter, Viewer viewer, OwnRows own, boolean isPerEntry) {
        this.isPerEntry = isPerEntry;
        int count = filter.skills().size() + filter.tags().size();
        for (List<String> alternatives : filter.fields().values()) {
            count += alternatives.size();
        }
        if (count > MAX_VALUES) {
            throw A2AException.invalidParams("filter", count + " values (expected: at most " + MAX_VALUES + ")");
        }
        if (!viewer.isOperator()) {
            if (viewer.isStranger()) {
                and("e.visibility = 2");
            } else {
                and(
                        "(e.visibility = 2 OR e.group_id = ? AND (e.visibility = 1 OR e.owner = ?))",
                        viewer.group(),
                        viewer.principal());
            }
            if (filter.hidden()) {
                and(
                        "(e.status <> 'deleted' OR e.group_id = ? AND e.owner = ?)",
                        viewer.isStranger() ? "" : viewer.group(),
                        viewer.principal());
            }
        }
        if (!filter.hidden()) {
            and("e.status IN ('active', 'deprecated')");
        }
        Collection<Long> numbers = own.numbers();
        if (own.areShown()) {
            and(
                    "(e.owner <> '" + Entry.HUB + "'"
                            + (numbers.isEmpty() ? "" : " OR e.number IN (" + marks(numbers.size()) + ")") + ")",
                    numbers.toArray());
        } else if (!numbers.isEmpty()) {
            and("e.number NOT IN (" + marks(numbers.size()) + ")", numbers.toArray());
        }
        filter.skills().forEach(skill -> anyOf("skill", List.of(skill)));
        filter.tags().forEach(tag -> anyOf("tag", List.of(tag)));
        filter.fields().forEach(this::anyOf);
    }

    private void anyOf(String field, List<String> alternatives) {
        if (alternatives.isEmpty()) {
            return;
        }
        String column = COLUMNS.get(field);
        if (column != null) {
            and("e." + column + " IN (" + marks(alternatives.size()) + ")", alternatives.toArray());
        } else if (field.equals("createdAfter") || field.equals("updatedAfter")) {
            and("e." + field.replace("After", "_ms") + " > ?", Instant.parse(alternatives.getFirst()));
        } else {
            String labels = "l.label IN (" + marks(alternatives.size()) + ")";
            and(
                    isPerEntry
                            ? "EXISTS (SELECT 1 FROM registry_label l WHERE l.entry = e.number AND " + labels + ")"
                            : "e.number IN (SELECT l.entry FROM registry_label l WHERE " + labels + ")",
                    alternatives.stream()
                            .map(value -> EntryRows.label(field, value))
                            .toArray());
        }
    }

    private static String marks(int count) {
        return String.join(", ", Collections.nCopies(count, "?"));
    }

    private void and(String condition, @Nullable Object... parameters) {
        where.append(" AND ").append(condition);
        Collections.addAll(values, parameters);
    }

    Conditions conditions() {
        return new Conditions(where.toString(), List.copyOf(values));
    }

    /** Whether an entry fulfils a filter. */
    static boolean fits(Entry entry, EntryFilter filter) {
        Set<String> labels = EntryRows.labels(entry);
        return filter.skills().stream().allMatch(each -> labels.contains(EntryRows.label("skill", each)))
                && filter.tags().stream().allMatch(each -> labels.contains(EntryRows.label("tag", each)))
                && filter.fields().entrySet().stream()
                        .allMatch(each -> each.getValue().isEmpty()
                                || each.getValue().stream()
                                        .anyMatch(value -> labels.contains(EntryRows.label(each.getKey(), value))));
    }

    /**
     * Position after the last entry of a page: its sort key and the key of its row, so that writes between two pages move nothing.
     *
     * @param key value of the column of the order
     */
    private record Position(long total, long number, Object key) {
        static Position of(Object list, String token, String column) {
            return PageToken.read(
                    list,
                    token,
                    3,
                    at -> new Position(
                            Long.parseLong(at.get(0)),
                            Long.parseLong(at.get(1)),
                            column.equals("name") ? at.get(2) : (Object) Long.valueOf(at.get(2))),
                    () -> A2AException.invalidParams("pageToken", "unknown (expected: a token of the page before)"));
        }
    }

    /** Key of a row and the bytes that reading it takes. */
    private record Weighed(long number, long bytes) {}

    /**
     * Reads a page, which ends before its size if its entries have more than {@value #PAGE_BYTES} bytes.
     *
     * @param list the list with its caller, for the tokens of its pages
     * @param withDocuments whether the documents of the entries are read with them
     * @param shown returns an entry as the viewer sees it
     */
    EntryPage page(
            DatabaseSession session,
            Object list,
            Order order,
            int size,
            @Nullable String token,
            boolean withDocuments,
            Function<Numbered, Entry> shown)
            throws SQLException {
        boolean isDescending = order.toString().startsWith("-");
        String column = requireNonNull(ORDERS.get(order.toString().substring(isDescending ? 1 : 0)));
        Position from = token == null || token.isEmpty() ? null : Position.of(list, token, column);
        long total = from != null
                ? from.total()
                : session.number("SELECT count(*) FROM registry_entry e WHERE " + where, values.toArray());
        if (from != null) {
            String beyond = isDescending ? " < ?" : " > ?";
            and(
                    "(e." + column + beyond + " OR e." + column + " = ? AND e.number" + beyond + ")",
                    from.key(),
                    from.key(),
                    from.number());
        }
        String direction = isDescending ? " DESC" : "";
        and("1 = 1 ORDER BY e." + column + direction + ", e.number" + direction + " LIMIT ?", size + 1);
        List<Weighed> rows = session.list(
                row -> new Weighed(row.getLong(1), row.getLong(2)),
                "SELECT e.number, length(e.content)" + (withDocuments ? DOCUMENT_BYTES : "")
                        + " FROM registry_entry e WHERE " + where,
                values.toArray());
        int count = 0;
        long bytes = 0;
        while (count < Math.min(size, rows.size())
                && (count == 0 || bytes + rows.get(count).bytes() <= PAGE_BYTES)) {
            bytes += rows.get(count++).bytes();
        }
        List<Numbered> page = EntryRows.byNumbers(
                session, rows.subList(0, count).stream().map(Weighed::number).toList());
        String next = null;
        if (count < rows.size() && !page.isEmpty()) {
            Numbered last = page.getLast();
            next = PageToken.of(list, List.of(total, last.number(), key(column, last.entry())));
        }
        return new EntryPage(page.stream().map(shown).toList(), next, total);
    }

    private static String key(String column, Entry entry) {
        return switch (column) {
            case "name" -> EntryRows.sortName(entry);
            case "change" -> Long.toString(entry.state().change());
            case "created_ms" -> Long.toString(entry.state().created().toEpochMilli());
            default -> Long.toString(entry.state().updated().toEpochMilli());
        };
    }
}
