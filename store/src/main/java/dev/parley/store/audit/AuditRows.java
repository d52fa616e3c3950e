package dev.parley.store.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.store.database.DatabaseSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Rows and links of the audit in the database. Its methods run in the session of a reader or of the writer. */
final class AuditRows {
    static final int ROWS_AT_ONCE = 1_000;

    static final String COLUMNS =
            "row_no, at_ms, group_id, actor, action, target, subject, outcome, address, trace, detail, hash, salt";

    /** Entries of the log that are looked up in one read. */
    static final int ENTRIES_AT_ONCE = 500;

    private static final int PARTS_AT_ONCE = 64;

    /** Characters of the details of rows that are read at once. */
    private static final int BYTES_AT_ONCE = 1 << 20;

    /** A row, its detail as the text that is stored, and the salt of its address. */
    record Stored(AuditRow row, String detail, String salt) {
        /** The detail as it goes into the chain: unchanged if this program would write it in another way. */
        String detailInChain() {
            Map<String, ?> members = row.entry().detail();
            return AuditChain.text(members).equals(detail) ? AuditChain.withoutChosen(members, detail) : detail;
        }
    }

    /** A link of the chain over entries of the log. */
    record Link(long last, long at, int entries, String places, String hash) {
        long first() {
            return last - entries + 1;
        }

        String[] placesInOrder() {
            return places.split("\n");
        }
    }

    /** Entries of the log in one link: those of one group, or all. */
    record Part(long last, long at, String hash, List<Place> places) {
        private static Part of(long last, long at, String hash, String lines) {
            List<Place> places = lines.lines()
                    .flatMap(Place::of)
                    .sorted(Comparator.comparingLong(Place::number))
                    .toList();
            return new Part(last, at, hash, places);
        }

        private static Part of(Link link) {
            var places = new ArrayList<Place>();
            for (String segment : link.placesInOrder()) {
                places.add(new Place(link.first() + places.size(), segment));
            }
            return new Part(link.last(), link.at(), link.hash(), places);
        }

        boolean has(LoggedEntry entry) {
            String begin = entry.entry().target() + "/";
            return places.stream().anyMatch(place -> place.number == entry.number() && place.segment.startsWith(begin));
        }

        AuditRow row(LoggedEntry entry) {
            return new AuditRow(entry.number(), Instant.ofEpochMilli(at), entry.entry(), hash);
        }
    }

    /**
     * The place of an entry in the log.
     *
     * @param segment task id and first number
     */
    record Place(long number, String segment) {
        /** The place of a line; none for one that cannot be read, which the verification misses. */
        private static Stream<Place> of(String line) {
            int space = line.indexOf(' ');
            try {
                return Stream.of(new Place(Long.parseLong(line.substring(0, space)), line.substring(space + 1)));
            } catch (NumberFormatException | IndexOutOfBoundsException damaged) {
                return Stream.empty();
            }
        }

        String line() {
            return number + " " + segment;
        }
    }

    private AuditRows() {}

    /** Inserts a row of {@link #values}. */
    static final String INSERT = "INSERT INTO audit (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

    static void insert(
            DatabaseSession session, long number, long at, AuditEntry entry, String detail, String hash, String salt)
            throws SQLException {
        session.later(INSERT, values(number, at, entry, detail, hash, salt));
    }

    static @Nullable Object[] values(long number, long at, AuditEntry entry, String detail, String hash, String salt) {
        return new @Nullable Object[] {
            number,
            at,
            entry.group(),
            entry.actor(),
            entry.action(),
            entry.target(),
            entry.subject(),
            entry.outcome(),
            entry.address(),
            entry.trace(),
            detail,
            hash,
            salt
        };
    }

    /** Whether the part of a group in a link has all of these places. */
    static boolean hasPlaces(DatabaseSession session, String group, long link, List<Place> places) throws SQLException {
        List<Part> parts = parts(session, group, link - 1, 1);
        return !parts.isEmpty()
                && parts.getFirst().last() == link
                && new HashSet<>(parts.getFirst().places()).containsAll(places);
    }

    /** Returns the part of a group that has an entry of the log; null if none has. */
    static @Nullable Part part(DatabaseSession session, LoggedEntry entry) throws SQLException {
        List<Part> parts = parts(session, entry.entry().group(), entry.number() - 1, 1);
        return parts.isEmpty() || !parts.getFirst().has(entry) ? null : parts.getFirst();
    }

    /** Parts of links that end after a number, in order: those of a group; of all groups if it is null. */
    static List<Part> parts(DatabaseSession session, @Nullable String group, long after) throws SQLException {
        return group == null
                ? links(session, after, PARTS_AT_ONCE).stream().map(Part::of).toList()
                : parts(session, group, after, PARTS_AT_ONCE);
    }

    /** Parts of a group that end after a number, in order; fewer than the limit if they have many entries. */
    static List<Part> parts(DatabaseSession session, String group, long after, int limit) throws SQLException {
        var parts = new ArrayList<Part>();
        try (ResultSet rows = session.bind(
                        "SELECT row_no, at_ms, hash, places FROM audit_part WHERE group_id = ? AND row_no > ?"
                                + " ORDER BY row_no LIMIT ?",
                        group,
                        after,
                        limit)
                .executeQuery()) {
            int entries = 0;
            while (entries < ENTRIES_AT_ONCE && rows.next()) {
                var part = Part.of(
                        rows.getLong(1), rows.getLong(2), DatabaseSession.text(rows, 3), DatabaseSession.text(rows, 4));
                parts.add(part);
                entries += part.places().size();
            }
        }
        return parts;
    }

    /** Links that end after a number, in order. */
    static List<Link> links(DatabaseSession session, long after, int limit) throws SQLException {
        var links = new ArrayList<Link>();
        try (ResultSet rows = session.bind(
                        "SELECT row_no, at_ms, entries, places, hash FROM audit_log WHERE row_no > ? ORDER BY row_no"
                                + " LIMIT ?",
                        after,
                        limit)
                .executeQuery()) {
            int entries = 0;
            while (entries < ENTRIES_AT_ONCE && rows.next()) {
                links.add(new Link(
                        rows.getLong(1),
                        rows.getLong(2),
                        rows.getInt(3),
                        DatabaseSession.text(rows, 4),
                        DatabaseSession.text(rows, 5)));
                entries += rows.getInt(3);
            }
        }
        return links;
    }

    /**
     * Returns the entry at a place of a link; null if its task was removed.
     *
     * @param events whether its events are read too
     */
    static @Nullable LoggedEntry at(DatabaseSession session, String place, boolean events) throws SQLException {
        int slash = place.lastIndexOf('/');
        return LoggedEntry.find(session, place.substring(0, slash), Long.parseLong(place.substring(slash + 1)), events);
    }

    /** Rows after {@code after}, up to {@code end}, of some {@link #BYTES_AT_ONCE} together. */
    static AuditPage written(DatabaseSession session, Filter filter, long after, long end, int limit)
            throws SQLException {
        var where = new StringBuilder("row_no > ? AND row_no <= ?");
        var values = new ArrayList<@Nullable Object>();
        values.add(after);
        values.add(end);
        and(where, values, "group_id = ?", filter.group());
        and(where, values, "action = ?", filter.action());
        andName(where, values, "actor", filter.actor());
        andName(where, values, "subject", filter.subject());
        andName(where, values, "target", filter.target());
        and(
                where,
                values,
                "at_ms >= ?",
                filter.since() == null ? null : filter.since().toEpochMilli());
        values.add(limit);
        var rows = new ArrayList<AuditRow>();
        long bytes = 0;
        try (ResultSet found =
                session.bind(select(where.toString()), values.toArray()).executeQuery()) {
            while (bytes < BYTES_AT_ONCE && found.next()) {
                Stored next = stored(found);
                rows.add(next.row());
                bytes += next.detail().length();
            }
        }
        boolean isLast = rows.size() < limit && bytes < BYTES_AT_ONCE;
        return new AuditPage(rows, rows.isEmpty() ? after : rows.getLast().number(), isLast);
    }

    static List<Stored> stored(DatabaseSession session, String where, List<@Nullable Object> values)
            throws SQLException {
        return session.list(found -> stored(found), select(where), values.toArray());
    }

    private static String select(String where) {
        return "SELECT " + COLUMNS + " FROM audit WHERE " + where + " ORDER BY row_no LIMIT ?";
    }

    private static void and(
            StringBuilder where, List<@Nullable Object> values, String condition, @Nullable Object value) {
        if (value != null) {
            where.append(" AND ").append(condition);
            values.add(value);
        }
    }

    /** The name or id, or its hash in rows from which it was erased. */
    private static void andName(
            StringBuilder where, List<@Nullable Object> values, String column, @Nullable String name) {
        if (name != null) {
            where.append(" AND ").append(column).append(" IN (?, ?)");
            values.add(name);
            values.add(AuditChain.hashed(name));
        }
    }

    static Stored stored(ResultSet found) throws SQLException {
        String text = requireNonNull(DatabaseSession.text(found, 11));
        Map<String, ?> detail = detail(text);
        var entry = new AuditEntry(
                DatabaseSession.text(found, 3),
                DatabaseSession.text(found, 4),
                DatabaseSession.text(found, 5),
                DatabaseSession.text(found, 6),
                DatabaseSession.text(found, 7),
                DatabaseSession.text(found, 8),
                DatabaseSession.text(found, 9),
                DatabaseSession.text(found, 10),
                detail);
        Instant at = Instant.ofEpochMilli(found.getLong(2));
        return new Stored(
                new AuditRow(found.getLong(1), at, entry, DatabaseSession.text(found, 12)),
                text,
                DatabaseSession.text(found, 13));
    }

    @SuppressWarnings("unchecked") // what was written has texts for names
    static Map<String, ?> detail(String text) {
        try {
            return (Map<String, ?>) Json.read(text.getBytes(UTF_8), Map.class);
        } catch (A2AException changed) {
            return Map.of("unreadable", text); // which the chain shows
        }
    }
}
