package dev.parley.store.audit;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.AuditNumbers;
import dev.parley.store.spi.DatabaseKind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Entries of the audit after a place, by chains, each in order. Like an {@link AuditPage} it may have none without being the last one.
 *
 * @param next place after these entries
 * @param isLast whether there was none after it
 */
public record AuditNews(List<AuditRow> rows, AuditPosition next, boolean isLast) {
    /** Before the first chain. */
    private static final long NONE = -1;

    /**
     * The end of a chain.
     *
     * @param grows whether a hub may add entries
     */
    private record End(long number, boolean grows) {
        long chain() {
            return AuditNumbers.chain(number);
        }
    }

    static AuditNews read(Database database, Filter filter, AuditPosition after, int limit) {
        var places = new TreeMap<Long, Long>();
        after.numbers().forEach(number -> places.put(AuditNumbers.chain(number), number));
        // Before their entries are read: one that ends meanwhile counts as growing until the next time.
        List<End> ends = database.read(session -> ends(database, session, after.newestChain()));
        for (End end : ends) {
            if (end.chain() > after.newestChain()) {
                places.put(end.chain(), AuditNumbers.beginning(end.chain()));
            }
        }
        var rows = new ArrayList<AuditRow>();
        boolean isLast = true;
        for (long chain : List.copyOf(places.keySet())) {
            AuditPage page = AuditPage.read(database, filter, places.get(chain), limit - rows.size());
            List<AuditRow> own = page.rows().stream()
                    .filter(row -> AuditNumbers.chain(row.number()) == chain)
                    .toList();
            rows.addAll(own);
            boolean isEnd = page.isLast() || AuditNumbers.chain(page.next()) > chain;
            if (!isEnd) {
                places.put(chain, page.next());
            } else if (!own.isEmpty()) {
                places.put(chain, own.getLast().number());
            }
            isLast &= isEnd;
            if (isEnd
                    && chain < places.lastKey()
                    && ends.stream().noneMatch(end -> end.grows && end.chain() == chain)) {
                places.remove(chain); // it has ended
            }
            if (!isEnd || rows.size() >= limit) {
                isLast = false;
                break;
            }
        }
        return new AuditNews(rows, new AuditPosition(new ArrayList<>(places.values())), isLast);
    }

    /** The place after the newest entries. */
    static AuditPosition newest(Database database) {
        List<End> ends = database.read(session -> ends(database, session, NONE));
        long newest = ends.stream().mapToLong(End::chain).max().orElse(0);
        return AuditPosition.after(ends.stream()
                .filter(end -> end.grows || end.chain() == newest)
                .map(End::number)
                .toList());
    }

    /** Ends of the chains that may grow, and of those that have begun after a chain. */
    private static List<End> ends(Database database, DatabaseSession session, long chain) throws SQLException {
        if (database.kind() == DatabaseKind.SQLITE) {
            return session.list(row -> new End(row.getLong(1), true), "SELECT row_no FROM audit_end");
        }
        return session.list(
                row -> new End(row.getLong(1), row.getBoolean(2)),
                "SELECT audit_no, true FROM stream_newest UNION ALL SELECT audit_no, false FROM stream_end WHERE audit_no >= ?",
                AuditNumbers.beginning(chain + 1));
    }
}
