package dev.parley.store.audit;

import dev.parley.store.audit.AuditNews.End;
import dev.parley.store.database.Database;
import dev.parley.store.spi.AuditNumbers;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Entries after a place from all chains: the entry with the earliest time comes next, of the first ones that are left of each chain. Clocks of
 * hubs differ, so an entry of a task waits for the entries before it of the same task. For one thread.
 *
 * <p>Chains that have ended are read some at a time, in the order in which they began, since a place has a number for each.
 */
final class ChainMerge {
    /** Chains that have ended and are read together. Hubs that work at the same time have about as many. */
    private static final int MOST_ENDED = 8;

    /** Entries of each chain that are read at least: fewer are not worth their statements. */
    private static final int LEAST_ROWS = 100;

    private static final String PRECEDING =
            "SELECT entry_no FROM logged WHERE task_id = ? AND entry_no > 0 AND first_seq <"
                    + " (SELECT first_seq FROM logged WHERE task_id = ? AND entry_no = ?) ORDER BY first_seq DESC LIMIT 1";

    /** A chain, some of its entries, and how far it is read. */
    private static final class Chain {
        private final long number;
        private final boolean grows;
        private final long end;
        private final Deque<AuditRow> rows = new ArrayDeque<>();
        /** All entries up to this number are taken, or in {@code rows}. */
        private long read;

        private boolean isRead;

        /** All entries up to this number are taken. */
        private long place;

        /** @param end null for a chain that has ended and began before the newest one of the place */
        Chain(long number, @Nullable End end, long place) {
            this.number = number;
            this.grows = end != null && end.grows();
            this.end = end == null ? AuditNumbers.beginning(number + 1) - 1 : end.number();
            this.place = place;
            this.read = place;
            this.isRead = place >= this.end;
        }

        void add(AuditPage page, boolean isEndKnown) {
            rows.addAll(page.rows());
            isRead = page.isLast();
            read = isRead && isEndKnown ? end : page.next();
        }

        boolean isOver() {
            return isRead && rows.isEmpty();
        }

        Instant time() {
            return rows.getFirst().at();
        }

        AuditRow take() {
            AuditRow row = rows.removeFirst();
            place = row.number();
            return row;
        }

        /** Whether an entry is taken, or not wanted. */
        boolean hasTaken(long entry) {
            return rows.isEmpty()
                    ? isRead || entry <= read
                    : entry < rows.getFirst().number();
        }
    }

    private final Database database;
    private final Filter filter;
    private final TreeMap<Long, Chain> chains = new TreeMap<>();
    /** Chains whose ends are known. */
    private final Set<Long> known;

    /** Whether there are chains that are not in {@code chains} yet. */
    private boolean hasMore;

    /** @param ends of the chains that may grow, of the newest one of the place and of those that began after it, as of one time */
    ChainMerge(Database database, Filter filter, AuditPosition after, Collection<End> ends) {
        this.database = database;
        this.filter = filter;
        Map<Long, End> byChain = ends.stream().collect(Collectors.toMap(End::chain, Function.identity()));
        known = byChain.keySet();
        for (long number : after.numbers()) {
            long chain = AuditNumbers.chain(number);
            chains.put(chain, new Chain(chain, byChain.get(chain), number));
        }
        int ended = (int) chains.values().stream().filter(chain -> !chain.grows).count();
        for (long chain : byChain.keySet().stream().sorted().toList()) {
            End end = byChain.get(chain);
            if (end == null || chain <= after.newestChain()) {
                continue;
            }
            ended += end.grows() ? 0 : 1;
            if (ended > MOST_ENDED) {
                hasMore = true; // and so are all after it: a place has no gaps
                return;
            }
            chains.put(chain, new Chain(chain, end, AuditNumbers.beginning(chain)));
        }
    }

    AuditNews read(int limit) {
        long unread = chains.values().stream().filter(chain -> !chain.isRead).count();
        int ofEach = Math.clamp(limit / Math.max(1, unread) + 1, Math.min(limit, LEAST_ROWS), limit);
        chains.values().forEach(chain -> read(chain, ofEach));
        var rows = new ArrayList<AuditRow>();
        var places = new ArrayList<AuditPosition>();
        Chain next = next();
        while (next != null && rows.size() < limit) {
            rows.add(next.take());
            places.add(place());
            next = next();
        }
        for (Chain chain : chains.values()) {
            chain.place = chain.rows.isEmpty() ? chain.read : chain.place;
        }
        boolean isLast = !hasMore && chains.values().stream().allMatch(Chain::isOver);
        // A chain that has ended and is read needs no number. The newest one keeps its own, as it tells which chains
        // are new.
        long newest = chains.lastKey();
        chains.values().removeIf(chain -> chain.number < newest && !chain.grows && chain.isOver());
        return new AuditNews(rows, places, place(), isLast);
    }

    private AuditPosition place() {
        return new AuditPosition(
                chains.values().stream().map(chain -> chain.place).toList());
    }

    private void read(Chain chain, int limit) {
        if (!chain.isRead) {
            chain.add(AuditPage.read(database, filter, chain.read, chain.end, limit), known.contains(chain.number));
        }
    }

    /** The chain whose entry comes next; null if that is not known before more entries are read, or if there is none. */
    private @Nullable Chain next() {
        if (chains.values().stream().anyMatch(chain -> chain.rows.isEmpty() && !chain.isRead)) {
            return null; // its next entry may be the one
        }
        Chain next = chains.values().stream()
                .filter(chain -> !chain.rows.isEmpty())
                .min(Comparator.comparing(Chain::time).thenComparingLong(chain -> chain.number))
                .orElse(null);
        Chain before = next == null ? null : before(next);
        // Entries of a task are in one order, and so are those of a chain, so this ends.
        while (before != null) {
            if (before.rows.isEmpty()) {
                return null;
            }
            next = before;
            before = before(next);
        }
        return next;
    }

    /** The chain with an entry of the same task that comes before the first one of a chain; null if all of them are taken. */
    private @Nullable Chain before(Chain chain) {
        AuditRow row = chain.rows.getFirst();
        String action = row.entry().action();
        boolean isAlone = chains.values().stream().allMatch(other -> other == chain || other.isOver());
        if (isAlone || !action.startsWith("task.") || action.equals("task.created")) {
            return null;
        }
        String task = row.entry().target();
        long preceding = database.read(session -> session.number(PRECEDING, task, task, row.number()));
        Chain before = chains.get(AuditNumbers.chain(preceding));
        return before == null || before == chain || before.hasTaken(preceding) ? null : before;
    }
}
