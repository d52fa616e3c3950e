package dev.parley.store.audit;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.AuditNumbers;
import dev.parley.store.spi.DatabaseKind;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Entries of the audit after a place. Those of one chain are in order, and so are those of one task, whatever their chains; apart from that the
 * times of the entries decide, which are those of their hubs' clocks. Like an {@link AuditPage} it may have none without being the last one.
 *
 * @param places place after each of the entries
 * @param next place after all of them
 * @param isLast whether there was none after it
 */
public record AuditNews(List<AuditRow> rows, List<AuditPosition> places, AuditPosition next, boolean isLast) {
    /** Chains that have ended and are searched for a time. */
    private static final int MOST_SEARCHED = 64;

    private static final String NEXT = "SELECT row_no, at_ms FROM"
            + " (SELECT row_no, at_ms FROM audit WHERE row_no > ? ORDER BY row_no LIMIT 1) AS written UNION ALL"
            + " SELECT row_no, at_ms FROM (SELECT row_no, at_ms FROM audit_log WHERE row_no > ? ORDER BY row_no LIMIT 1) AS logged"
            + " ORDER BY row_no LIMIT 1";

    /** The time of an entry, and of those before it in its link. */
    private record Time(long number, long at) {}

    /** Chains that have ended and are read backwards together. */
    private static final int MOST_CHAINS = 8;

    /**
     * The end of a chain.
     *
     * @param grows whether a hub may add entries
     */
    record End(long number, boolean grows) {
        long chain() {
            return AuditNumbers.chain(number);
        }

        private End and(End other) {
            return new End(Math.max(number, other.number), grows || other.grows);
        }
    }

    public AuditNews {
        rows = List.copyOf(rows);
        places = List.copyOf(places);
    }

    /** Entries of all chains. */
    static AuditNews read(Database database, Filter filter, AuditPosition after, int limit) {
        // One statement sees what was committed at one time: an entry that follows from another one is not there
        // without it.
        Collection<End> ends = database.read(session -> ends(database, session, after.newestChain()));
        return new ChainMerge(database, filter, after, ends).read(limit);
    }

    /** Entries by their numbers, for a reader whose hub has the database alone: chains have ended one after the other. */
    static AuditNews of(AuditPage page) {
        return new AuditNews(
                page.rows(),
                page.rows().stream().map(row -> AuditPosition.of(row.number())).toList(),
                AuditPosition.of(page.next()),
                page.isLast());
    }

    /** The place after the newest entries. */
    static AuditPosition newest(Database database) {
        Collection<End> ends = database.read(session -> ends(database, session, 0));
        long newest = ends.stream().mapToLong(End::chain).max().orElse(0);
        return AuditPosition.after(ends.stream()
                .filter(end -> end.grows || end.chain() == newest)
                .map(End::number)
                .toList());
    }

    /** A place before another one, by at most so many entries of each chain. */
    static AuditPosition back(Database database, AuditPosition place, long entries) {
        List<End> ends = database.read(session -> ends(database, session, 0)).stream()
                .filter(end -> end.chain() <= place.newestChain())
                .toList();
        var numbers = new TreeMap<Long, Long>();
        for (End end : ends.reversed()) {
            long chain = end.chain();
            if (end.grows
                    || place.numbers().stream().anyMatch(number -> AuditNumbers.chain(number) == chain)
                    || numbers.size() < MOST_CHAINS) {
                long reached = Math.min(place.reached(chain), end.number);
                numbers.put(chain, Math.max(AuditNumbers.beginning(chain), reached - entries));
            }
        }
        boolean isBeginning =
                numbers.size() == ends.size() && numbers.entrySet().stream().allMatch(AuditNews::isUnread);
        return isBeginning ? AuditPosition.BEGINNING : shortened(numbers);
    }

    /** A place before the entries from a time on, in the chains that may grow and the newest ones that have ended. */
    static AuditPosition at(Database database, Instant time) {
        List<End> ends = database.read(session -> List.copyOf(ends(database, session, 0)));
        var numbers = new TreeMap<Long, Long>();
        int ended = 0;
        for (End end : ends.reversed()) {
            if (end.grows || ended++ < MOST_SEARCHED) {
                long before = database.read(session -> before(session, end, time.toEpochMilli()));
                if (end.grows || numbers.isEmpty() || before < end.number) {
                    numbers.put(end.chain(), before);
                }
            }
        }
        return numbers.isEmpty() ? AuditPosition.BEGINNING : shortened(numbers);
    }

    /** The greatest number of a chain whose entry is earlier than a time. */
    private static long before(DatabaseSession session, End end, long time) throws SQLException {
        long low = AuditNumbers.beginning(end.chain());
        long high = end.number;
        long middle = high - 1; // most chains ended before
        while (low < high) {
            Time next = session.first(row -> new Time(row.getLong(1), row.getLong(2)), NEXT, middle, middle)
                    .orElse(null);
            if (next != null && next.number <= high && next.at < time) {
                low = next.number;
            } else {
                high = middle;
            }
            middle = low + (high - low) / 2;
        }
        return low;
    }

    /** A place without the numbers of unread chains above all others, which are new ones. */
    private static AuditPosition shortened(TreeMap<Long, Long> numbers) {
        while (numbers.size() > 1 && isUnread(numbers.lastEntry())) {
            numbers.pollLastEntry();
        }
        return new AuditPosition(new ArrayList<>(numbers.values()));
    }

    private static boolean isUnread(Map.Entry<Long, Long> place) {
        return place.getValue() == AuditNumbers.beginning(place.getKey());
    }

    /** Number of the entries after a place; negative if it is no place of this audit. */
    static long behind(Database database, AuditPosition place) {
        long oldest = AuditNumbers.chain(place.numbers().getFirst());
        Collection<End> ends = database.read(session -> ends(database, session, oldest));
        long behind = 0;
        for (End end : ends) {
            long since = end.number - place.reached(end.chain());
            if (since < 0) {
                return since;
            }
            behind += since;
        }
        long newest = ends.stream().mapToLong(End::chain).max().orElse(0);
        return place.newestChain() > newest ? -1 : behind;
    }

    /** Ends of the chains that may grow, and of those from a chain on, as of one time. */
    private static Collection<End> ends(Database database, DatabaseSession session, long chain) throws SQLException {
        List<End> all = database.kind() == DatabaseKind.SQLITE
                ? session.list(row -> new End(row.getLong(1), true), "SELECT row_no FROM audit_end")
                : session.list(
                        row -> new End(row.getLong(1), row.getBoolean(2)),
                        "SELECT audit_no, true FROM stream_newest UNION ALL SELECT audit_no, false FROM stream_end"
                                + " WHERE audit_no >= ?",
                        AuditNumbers.beginning(chain));
        // Streams of hubs that had the database one after the other went on with a chain.
        var ends = new TreeMap<Long, End>();
        all.forEach(end -> ends.merge(end.chain(), end, End::and));
        return ends.values();
    }
}
