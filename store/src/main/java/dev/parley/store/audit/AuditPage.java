package dev.parley.store.audit;

import dev.parley.protocol.A2AException;
import dev.parley.store.audit.AuditRows.Part;
import dev.parley.store.audit.AuditRows.Place;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some entries of the audit, the oldest first. A page without entries need not be the last one: a page ends after some time, so that
 * readers with a narrow filter neither keep a connection nor exceed the time limit of their call.
 *
 * @param next number after which the next page begins
 * @param isLast whether there was none after it
 */
public record AuditPage(List<AuditRow> rows, long next, boolean isLast) {
    /** Time after which a page ends. */
    static final Duration LONGEST = Duration.ofMillis(250);

    private static final int LOOKED_BETWEEN = 16;
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** The numbers after one, up to {@code end}. */
    private record Range(long after, long end) {}

    /** @param isLarge whether its rows have as many bytes as a page may have */
    private record Piece(AuditPage page, boolean isLarge) {}

    static AuditPage read(Database database, Filter filter, long after, int limit) {
        return read(database, filter, after, Long.MAX_VALUE, limit);
    }

    /** @param end number of the last entry that is looked at */
    static AuditPage read(Database database, Filter filter, long after, long end, int limit) {
        String target = filter.target();
        String action = filter.action();
        if (target != null) {
            return database.read(session -> ofTarget(session, filter, target, new Range(after, end), limit));
        }
        if (action != null && !action.startsWith("task.")) {
            return database.read(session -> AuditRows.written(session, filter, after, end, limit));
        }
        var rows = new ArrayList<AuditRow>();
        long endNanos = System.nanoTime() + LONGEST.toNanos();
        long next = after;
        while (rows.size() < limit && System.nanoTime() - endNanos < 0) {
            var range = new Range(next, end);
            Piece piece = database.read(session -> some(session, filter, range, limit - rows.size(), endNanos));
            AuditPage some = piece.page;
            rows.addAll(some.rows);
            next = some.next;
            if (some.isLast || piece.isLarge) {
                return new AuditPage(rows, next, some.isLast);
            }
        }
        return new AuditPage(rows, next, false);
    }

    private static AuditPage ofTarget(DatabaseSession session, Filter filter, String target, Range range, int limit)
            throws SQLException {
        AuditPage written = AuditRows.written(session, filter, range.after, range.end, limit);
        List<LoggedEntry> logged = LoggedEntry.of(session, target, range.after, limit, false);
        long last = written.isLast ? range.end : written.next;
        if (logged.size() == limit) {
            last = Math.min(last, logged.getLast().number());
        }
        var rows = new ArrayList<>(written.rows);
        for (LoggedEntry entry : logged) {
            Part part = AuditRows.part(session, entry);
            if (part != null) {
                add(rows, filter, part.row(entry));
            }
        }
        return of(rows, range, last, limit);
    }

    /** The next entries, at most so many: a connection is kept for one read of them only. */
    private static Piece some(DatabaseSession session, Filter filter, Range range, int limit, long endNanos)
            throws SQLException {
        List<Part> parts = AuditRows.parts(session, filter.group(), range.after);
        long end = parts.isEmpty()
                ? range.end
                : Math.min(range.end, parts.getLast().last());
        AuditPage written = AuditRows.written(session, filter, range.after, end, limit);
        long last = written.isLast ? end : written.next;
        var found = new ArrayList<AuditRow>();
        int looked = 0;
        for (Part part : parts) {
            for (Place place : part.places()) {
                if (place.number() <= range.after || place.number() > last) {
                    continue;
                }
                if (found.size() == limit || ++looked % LOOKED_BETWEEN == 0 && System.nanoTime() - endNanos > 0) {
                    last = place.number() - 1;
                    continue;
                }
                LoggedEntry entry = readable(session, place);
                if (entry != null && entry.number() == place.number()) {
                    add(found, filter, part.row(entry));
                }
            }
        }
        found.addAll(written.rows);
        return new Piece(of(found, range, last, limit), !written.isLast);
    }

    /** The entry at a place; null if it was removed, or cannot be read: the verification tells of it, and the rows after it are read. */
    private static @Nullable LoggedEntry readable(DatabaseSession session, Place place) throws SQLException {
        try {
            return AuditRows.at(session, place.segment(), false);
        } catch (IllegalArgumentException | IndexOutOfBoundsException | A2AException damaged) {
            LOG.log(Level.WARNING, "row " + place.number() + " of the audit cannot be read", damaged);
            return null;
        }
    }

    private static void add(List<AuditRow> rows, Filter filter, AuditRow row) {
        if (filter.fits(row)) {
            rows.add(row);
        }
    }

    /** The first of some rows. All up to {@code last} were looked at, which is that of the range at the end. */
    private static AuditPage of(List<AuditRow> found, Range range, long last, int limit) {
        List<AuditRow> rows = found.stream()
                .filter(row -> row.number() <= last)
                .sorted(Comparator.comparingLong(AuditRow::number))
                .limit(limit)
                .toList();
        boolean isFull = rows.size() == limit;
        boolean isLast = !isFull && last == range.end;
        return new AuditPage(rows, isFull || isLast ? end(rows, range.after) : last, isLast);
    }

    private static long end(List<AuditRow> rows, long after) {
        return rows.isEmpty() ? after : rows.getLast().number();
    }
}
