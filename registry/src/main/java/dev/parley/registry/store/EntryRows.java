package dev.parley.registry.store;

import dev.parley.dialect.Json;
import dev.parley.engine.spi.SimilarNames;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Resource;
import dev.parley.registry.Entry.Skill;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryModel;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.rows.DamagedRows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Rows of entries, and their labels: the values that filters find, as {@code field=value}. */
final class EntryRows {
    private static final int MAX_LABEL = 300;

    /** Types of documents about servers of MCP. */
    private static final Set<String> MCP_SERVERS =
            Set.of("application/mcp-server-card+json", "application/mcp-server+json");

    private static final DamagedRows DAMAGED = new DamagedRows("registry entry number");

    private EntryRows() {}

    /**
     * An entry with the key of its row.
     *
     * @param content JSON of the entry
     * @param views selective views of its document, in JSON; null for none
     * @param open part of an entry with views that all readers see, and filters find; null for all of it
     */
    record Numbered(
            long number,
            Entry entry,
            byte[] content,
            byte @Nullable [] views,
            @Nullable Resource open) {
        static Numbered of(ResultSet row) throws SQLException {
            return of(row, 1);
        }

        /** @param first number of the first one of the {@link #COLUMNS} */
        static Numbered of(ResultSet row, int first) throws SQLException {
            byte[] content = row.getBytes(first + 1);
            byte[] open = row.getBytes(first + 3);
            Resource all = open == null ? null : EntryModel.read(open).resource();
            return new Numbered(row.getLong(first), EntryModel.read(content), content, row.getBytes(first + 2), all);
        }

        static Numbered of(long number, Entry entry, byte @Nullable [] views, @Nullable Resource open) {
            return new Numbered(number, entry, EntryModel.write(entry), views, open);
        }

        /** The entry as filters and searches find it. */
        Entry found() {
            return open == null ? entry : entry.with(open);
        }

        private byte @Nullable [] openContent() {
            return open == null ? null : EntryModel.write(found());
        }
    }

    static final String COLUMNS = "e.number, e.content, e.views, e.open";

    static Optional<Numbered> byId(DatabaseSession session, String id) throws SQLException {
        return first(session, "e.id = ?", id);
    }

    /** The first entry that fulfils a condition. */
    static Optional<Numbered> first(DatabaseSession session, String where, @Nullable Object... values)
            throws SQLException {
        return session.first(Numbered::of, "SELECT " + COLUMNS + " FROM registry_entry e WHERE " + where, values);
    }

    /** The oldest entry of a readable id, as two owners may claim the same one. */
    static Optional<Numbered> byHumanId(DatabaseSession session, String humanId) throws SQLException {
        return first(session, "e.human_id = ? AND e.status <> 'deleted' ORDER BY e.number LIMIT 1", humanId);
    }

    static Optional<Numbered> byAlias(DatabaseSession session, String id) throws SQLException {
        return session.first(
                Numbered::of,
                "SELECT " + COLUMNS + " FROM registry_label l JOIN registry_entry e ON e.number = l.entry"
                        + " WHERE l.label = ? ORDER BY e.number LIMIT 1",
                label("metadata.sourceIdentifier", id));
    }

    static Optional<Numbered> byNumber(DatabaseSession session, long number) throws SQLException {
        return first(session, "e.number = ?", number);
    }

    /** Entries in the order of the keys of their rows. */
    static List<Numbered> byNumbers(DatabaseSession session, List<Long> numbers) throws SQLException {
        if (numbers.isEmpty()) {
            return List.of();
        }
        Map<Long, Numbered> entries = list(
                        session,
                        "SELECT " + COLUMNS + " FROM registry_entry e WHERE e.number IN (" + marks(numbers.size())
                                + ")",
                        numbers.toArray())
                .stream()
                .collect(Collectors.toMap(Numbered::number, Function.identity()));
        return numbers.stream().map(entries::get).filter(Objects::nonNull).toList();
    }

    /** Entries that a query of {@link #COLUMNS} finds, without damaged ones. */
    static List<Numbered> list(DatabaseSession session, String sql, @Nullable Object... values) throws SQLException {
        return DAMAGED.list(session, Numbered::of, sql, values);
    }

    /** Why entries cannot be read, by the numbers of their rows. */
    static Map<String, String> damaged(DatabaseSession session) throws SQLException {
        var damaged = new DamagedRows("registry entry number");
        try (ResultSet rows = session.bind("SELECT " + COLUMNS + " FROM registry_entry e ORDER BY e.number")
                .executeQuery()) {
            while (rows.next()) {
                damaged.read(rows, Numbered::of);
            }
        }
        return damaged.reasons();
    }

    /** Number of the newest change of the entry with a key; 0 if it is erased. */
    static long change(DatabaseSession session, long number) throws SQLException {
        return session.number("SELECT change FROM registry_entry WHERE number = ?", number);
    }

    /** Numbers of the newest changes of the entries with some keys. */
    static Map<Long, Long> changes(DatabaseSession session, List<Long> numbers) throws SQLException {
        return numbers.isEmpty()
                ? Map.of()
                : session
                        .list(
                                row -> Map.entry(row.getLong(1), row.getLong(2)),
                                "SELECT number, change FROM registry_entry WHERE number IN (" + marks(numbers.size())
                                        + ")",
                                numbers.toArray())
                        .stream()
                        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static String marks(int count) {
        return String.join(", ", Collections.nCopies(count, "?"));
    }

    /** Whether an entry was erased after a change. The newest erasure has a change that belongs to no entry. */
    static boolean isAnyErased(DatabaseSession session, long change) throws SQLException {
        return session.number("SELECT count(*) FROM registry_change WHERE entry = 0 AND number > ?", change) > 0;
    }

    /** Number of the newest change. */
    static long newestChange(DatabaseSession session) throws SQLException {
        return session.number("SELECT coalesce(max(number), 0) FROM registry_change");
    }

    /** Takes the number of a change. Its row is locked until the transaction ends, so that changes are committed in their order. */
    static long nextChange(DatabaseSession session) throws SQLException {
        return session.number("UPDATE registry_newest SET change = change + 1 RETURNING change");
    }

    static void insert(DatabaseSession session, Numbered now) throws SQLException {
        Entry entry = now.entry();
        session.update(
                "INSERT INTO registry_entry (number, id, human_id, name, group_id, owner, visibility, status, change, content,"
                        + " views, created_ms, updated_ms, open, look) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                now.number(),
                entry.id(),
                entry.resource().humanId(),
                sortName(entry),
                entry.ownership().group(),
                entry.ownership().principal(),
                rank(entry.ownership().visibility()),
                EntryModel.word(entry.state().status()),
                entry.state().change(),
                now.content(),
                now.views(),
                entry.state().created(),
                entry.state().updated(),
                now.openContent(),
                look(entry.resource().name()));
        for (String label : labels(now.found())) {
            session.update("INSERT INTO registry_label (label, entry) VALUES (?, ?)", label, now.number());
        }
    }

    static void update(DatabaseSession session, Numbered before, Numbered changed) throws SQLException {
        Entry entry = changed.entry();
        session.update(
                "UPDATE registry_entry SET human_id = ?, name = ?, group_id = ?, owner = ?, visibility = ?, status = ?,"
                        + " change = ?, content = ?, views = ?, updated_ms = ?, open = ?, look = ? WHERE number = ?",
                entry.resource().humanId(),
                sortName(entry),
                entry.ownership().group(),
                entry.ownership().principal(),
                rank(entry.ownership().visibility()),
                EntryModel.word(entry.state().status()),
                entry.state().change(),
                changed.content(),
                changed.views(),
                entry.state().updated(),
                changed.openContent(),
                look(entry.resource().name()),
                before.number());
        Set<String> old = labels(before.found());
        Set<String> now = labels(changed.found());
        for (String label : old) {
            if (!now.contains(label)) {
                session.update("DELETE FROM registry_label WHERE label = ? AND entry = ?", label, before.number());
            }
        }
        for (String label : now) {
            if (!old.contains(label)) {
                session.update("INSERT INTO registry_label (label, entry) VALUES (?, ?)", label, before.number());
            }
        }
    }

    /** Erases the rows of an entry for good. */
    static void erase(DatabaseSession session, Numbered entry, Instant time, EntryBytes bytes) throws SQLException {
        bytes.remove(session, entry);
        for (String label : labels(entry.found())) {
            session.update("DELETE FROM registry_label WHERE label = ? AND entry = ?", label, entry.number());
        }
        eraseContent(session, entry.number(), bytes);
        // A row of no entry: the newest change has one, and other hubs clear their caches.
        session.update(
                "INSERT INTO registry_change (number, entry, at_ms, kind, group_id, owner, visibility, details)"
                        + " VALUES (?, 0, ?, 'erased', '', '', 0, ?)",
                nextChange(session),
                time,
                Json.write(Map.of()));
        session.update(
                "DELETE FROM registry_change WHERE entry = ? OR entry = 0 AND number < (SELECT max(number) FROM registry_change)",
                entry.number());
        session.update("DELETE FROM registry_entry WHERE number = ?", entry.number());
    }

    /** Erases the documents and reviews of an entry. */
    static void eraseContent(DatabaseSession session, long number, EntryBytes bytes) throws SQLException {
        bytes.review(session, -1, "entry = ?", number);
        session.update("DELETE FROM registry_document WHERE entry = ?", number);
        session.update("DELETE FROM registry_review WHERE entry = ?", number);
    }

    static int rank(Visibility visibility) {
        return switch (visibility) {
            case PRIVATE -> 0;
            case GROUP -> 1;
            case PUBLIC -> 2;
        };
    }

    /** The visibility of a {@linkplain #rank rank}. */
    static Visibility visibility(int rank) {
        return switch (rank) {
            case 0 -> Visibility.PRIVATE;
            case 1 -> Visibility.GROUP;
            default -> Visibility.PUBLIC;
        };
    }

    static String sortName(Entry entry) {
        return sortName(entry.resource());
    }

    static String sortName(Resource resource) {
        return resource.name().toLowerCase(Locale.ROOT);
    }

    /** Skeleton of the name of an entry, which entries whose names look alike share. */
    static String look(String name) {
        String look = SimilarNames.look(name);
        return look.isEmpty() ? "=" + name : look;
    }

    static String label(String field, String value) {
        String label = field + '=' + value;
        return label.length() <= MAX_LABEL ? label : label.substring(0, MAX_LABEL);
    }

    static Set<String> labels(Entry entry) {
        Resource resource = entry.resource();
        var labels = new LinkedHashSet<String>();
        for (Skill skill : resource.skills()) {
            labels.add(label("skill", skill.id()));
            labels.add(label("ability", skill.id()));
        }
        resource.capabilities().forEach(each -> labels.add(label("ability", each)));
        if (MCP_SERVERS.contains(resource.type())) {
            labels.add(label("binding", "MCP"));
        }
        if (!resource.version().isBlank()) {
            labels.add(label("version", resource.version()));
        }
        resource.tags().forEach(tag -> labels.add(label("tag", tag)));
        resource.capabilities().forEach(each -> labels.add(label("capability", each)));
        resource.endpoints().forEach(each -> {
            labels.add(label("binding", each.binding()));
            if (!each.dialect().isEmpty()) {
                labels.add(label("dialect", each.dialect()));
            }
        });
        resource.schemes().forEach(each -> labels.add(label("scheme", each)));
        resource.metadata().forEach((name, value) -> {
            if (!(value instanceof Map || value instanceof Collection)) {
                labels.add(label("metadata." + name, String.valueOf(value)));
            }
        });
        add(labels, "type", resource.type());
        add(labels, "provider", resource.provider());
        add(labels, "humanId", resource.humanId());
        add(labels, "health", EntryModel.word(entry.health().status()));
        add(labels, "trust", EntryModel.word(entry.trust().outcome()));
        add(labels, "tee", entry.trust().tee());
        add(labels, "owner", entry.ownership().principal());
        add(labels, "group", entry.ownership().group());
        add(labels, "status", EntryModel.word(entry.state().status()));
        add(labels, "publisher", Urns.publisher(entry.id()));
        return labels;
    }

    private static void add(Set<String> labels, String field, @Nullable String value) {
        if (value != null) {
            labels.add(label(field, value));
        }
    }
}
