package dev.parley.knowledge.journal;

import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Removes rows beyond the retention limits, beside the writer, in transactions of 5 ms each. */
final class Sweep {
    /** Keys further ahead of the clock than this were made by a wrong clock. */
    private static final Duration AHEAD = Duration.ofHours(1);

    /** Rows that a sweep reads at a time, outside of the writer. */
    private static final int SWEPT_AT_ONCE = 1_000;

    /** Rows that one statement removes. */
    private static final int RANGE = 20;

    /** Groups whose names are kept in memory. */
    private static final int GROUPS = 1_000;

    private static final Logger LOG = System.getLogger("dev.parley.knowledge");

    private final Database database;
    private final ChangeStore.Keeping keeping;
    private final InstantSource steadyClock;
    /** Groups by the numbers of their spaces; for the writer thread only. */
    private final Map<Long, String> groups = new LruMap<>(GROUPS);

    private long sinceSweep;
    private volatile CompletableFuture<Boolean> sweeping = CompletableFuture.completedFuture(true);
    private volatile boolean open = true;

    /** @param steadyClock decides which rows are old enough to be removed */
    Sweep(Database database, ChangeStore.Keeping keeping, InstantSource steadyClock) {
        this.database = database;
        this.keeping = keeping;
        this.steadyClock = steadyClock;
        this.sinceSweep = keeping.sweepEvery(); // entries of earlier starts were counted by them
    }

    /**
     * Starts a sweep of entries beyond the retention limits of all groups, every few entries. On the writer thread, which only
     * deletes rows that another thread has found.
     */
    void entries(int entries) {
        sinceSweep += entries;
        if (sinceSweep >= keeping.sweepEvery() && open && sweeping.isDone()) {
            sinceSweep = 0;
            long nowMs = steadyClock.millis();
            start(() -> sweepAll(nowMs));
        }
    }

    /** Counts changes of a group. A group whose changes take more than their share of its quota is swept at once. */
    void changes(DatabaseSession session, long space, int entries) throws SQLException {
        entries(entries);
        String group = groups.get(space);
        if (group == null) {
            group = group(session, space);
            groups.put(space, group);
        }
        if (open && sweeping.isDone() && database.storage().isOver(group, Kind.CHANGES)) {
            String swept = group;
            start(() -> removeShare(swept, space));
        }
    }

    /** Removes changes until a group is within its share again, also of those that come meanwhile. */
    private void removeShare(String group, long space) {
        long before;
        long newest = 0;
        do {
            before = newest;
            newest = database.read(session -> newestButOne(session, space));
            remove(space, newest);
        } while (open && newest > before && database.storage().isOver(group, Kind.CHANGES));
    }

    private void start(Runnable sweep) {
        var done = new CompletableFuture<Boolean>();
        sweeping = done;
        Thread.ofPlatform().daemon().name("knowledge-sweep").start(() -> {
            try {
                sweep.run();
            } catch (StoreException failure) {
                LOG.log(open ? Level.WARNING : Level.DEBUG, "old entries are removed later", failure);
            } finally {
                done.complete(true);
            }
        });
    }

    private void sweepAll(long nowMs) {
        for (long space : database.read(Sweep::spaces)) {
            long beforeMs = nowMs - keeping.changesFor().toMillis();
            remove(space, database.read(session -> lastToRemove(session, space, beforeMs)));
        }
        long last = database.read(session -> session.number("SELECT max(audit_no) FROM kg_audit"));
        removeNumbers("kg_audit", "audit_no", "audit_no > 0", last - keeping.queries(), false, null);
        sweepKeys(nowMs - keeping.answersFor().toMillis(), nowMs);
    }

    /** Removes the changes of a group up to one; 0 for none. */
    private void remove(long space, long newest) {
        if (newest > 0) {
            database.write(session -> Changes.forgetUpTo(session, space, newest));
            removeForgotten(space, newest, false);
        }
    }

    /** The change before the newest one of a group, which stays since it tells the revision. */
    private static long newestButOne(DatabaseSession session, long space) throws SQLException {
        return session.number(
                "SELECT change_no FROM kg_change WHERE space = ? ORDER BY change_no DESC LIMIT 1 OFFSET 1", space);
    }

    private static String group(DatabaseSession session, long space) throws SQLException {
        return session.first(
                        row -> DatabaseSession.text(row, 1), "SELECT group_id FROM kg_space WHERE space = ?", space)
                .orElse("");
    }

    private static List<Long> spaces(DatabaseSession session) throws SQLException {
        return session.list(rows -> rows.getLong(1), "SELECT space FROM kg_space");
    }

    /**
     * Returns the newest of the changes of a group that are to be removed; 0 if there is none. The newest change of a group is kept, since it
     * tells the revision. Age counts in the order of numbers: after a change that is young enough none is too old, whatever a clock that was
     * put back has shown. Changes that are forgotten already were left by a sweep that did not end.
     */
    private long lastToRemove(DatabaseSession session, long space, long beforeMs) throws SQLException {
        long tooMany = session.number(
                "SELECT change_no FROM kg_change WHERE space = ? ORDER BY change_no DESC LIMIT 1 OFFSET ?",
                space,
                keeping.changes());
        long kept = session.number(
                "SELECT coalesce((SELECT change_no FROM kg_change WHERE space = ? AND made_ms >= ? ORDER BY change_no LIMIT 1),"
                        + " (SELECT max(change_no) FROM kg_change WHERE space = ?))",
                space,
                beforeMs,
                space);
        long forgotten = session.number("SELECT forgotten FROM kg_space WHERE space = ?", space);
        return session.number(
                "SELECT max(change_no) FROM kg_change WHERE space = ? AND change_no <= ?",
                space,
                Math.max(forgotten, Math.max(tooMany, kept - 1)));
    }

    /** Removes the rows of forgotten changes, after the rows that link tasks to them. */
    void removeForgotten(long space, long last, boolean erased) {
        record Link(String task, long change) {}
        database.writeInSlices(
                new Link("", 0),
                (session, after) -> session.list(
                        rows -> new Link(DatabaseSession.text(rows, 1), rows.getLong(2)),
                        "SELECT task_id, change_no FROM kg_task WHERE space = ? AND (task_id, change_no) > (?, ?)"
                                + " AND change_no <= ? ORDER BY task_id, change_no LIMIT ?",
                        space,
                        after.task,
                        after.change,
                        last,
                        SWEPT_AT_ONCE),
                erased,
                () -> open || erased,
                (session, link) -> session.update(
                        "DELETE FROM kg_task WHERE space = ? AND task_id = ? AND change_no = ?",
                        space,
                        link.task,
                        link.change));
        String group = database.read(session -> group(session, space));
        removeNumbers("kg_change", "change_no", "space = " + space, last, erased, group);
    }

    /**
     * Removes the rows of a table with numbers up to {@code last}.
     *
     * @param changesOf the group whose changes the rows are; null for rows that count for none
     */
    private void removeNumbers(
            String table, String key, String where, long last, boolean erased, @Nullable String changesOf) {
        record Range(long first, long last) {}
        database.writeInSlices(
                new Range(0, 0),
                (session, before) -> {
                    List<Long> numbers = session.list(
                            rows -> rows.getLong(1),
                            "SELECT " + key + " FROM " + table + " WHERE " + where + " AND " + key + " > ? AND " + key
                                    + " <= ? ORDER BY " + key + " LIMIT ?",
                            before.last,
                            last,
                            SWEPT_AT_ONCE);
                    var ranges = new ArrayList<Range>();
                    for (int i = 0; i < numbers.size(); i += RANGE) {
                        ranges.add(new Range(numbers.get(i), numbers.get(Math.min(i + RANGE, numbers.size()) - 1)));
                    }
                    return ranges;
                },
                erased,
                () -> open || erased,
                (session, range) -> {
                    String delete = "DELETE FROM " + table + " WHERE " + where + " AND " + key + " BETWEEN ? AND ?";
                    return changesOf == null
                            ? session.update(delete, range.first, range.last)
                            : removeCounted(
                                    session,
                                    changesOf,
                                    Kind.CHANGES,
                                    delete + " RETURNING bytes",
                                    range.first,
                                    range.last);
                });
    }

    /**
     * Removes answers made before a time. Those made while the clock was ahead count from now on, and do not stay until the clock has
     * caught up.
     */
    private void sweepKeys(long beforeMs, long nowMs) {
        record Answer(long space, String caller, String key) {}
        long aheadMs = nowMs + AHEAD.toMillis();
        String answer = " WHERE space = ? AND caller = ? AND key = ? AND made_ms ";
        database.writeInSlices(
                new Answer(0, "", ""),
                (session, after) -> session.list(
                        rows -> new Answer(
                                rows.getLong(1), DatabaseSession.text(rows, 2), DatabaseSession.text(rows, 3)),
                        "SELECT space, caller, key FROM kg_key WHERE (space, caller, key) > (?, ?, ?)"
                                + " AND (made_ms < ? OR made_ms > ?) ORDER BY space, caller, key LIMIT ?",
                        after.space,
                        after.caller,
                        after.key,
                        beforeMs,
                        aheadMs,
                        SWEPT_AT_ONCE),
                false,
                () -> open,
                (session, one) -> removeAnswer(session, one.space, answer + "< ?", one.caller, one.key, beforeMs)
                        + session.update(
                                "UPDATE kg_key SET made_ms = ?" + answer + "> ?",
                                nowMs,
                                one.space,
                                one.caller,
                                one.key,
                                aheadMs));
    }

    private int removeAnswer(DatabaseSession session, long space, String where, Object... values) throws SQLException {
        Object[] all =
                Stream.concat(Stream.of((Object) space), Stream.of(values)).toArray();
        return removeCounted(
                session,
                group(session, space),
                Kind.KNOWLEDGE,
                "DELETE FROM kg_key" + where + " RETURNING " + UpdateAnswers.BYTES,
                all);
    }

    /** Removes rows, and counts the bytes of those that no other hub has removed. */
    private int removeCounted(DatabaseSession session, String group, Kind kind, String delete, Object... values)
            throws SQLException {
        List<Long> bytes = session.list(row -> row.getLong(1), delete, values);
        database.storage()
                .add(group, kind, -bytes.stream().mapToLong(each -> each).sum());
        return bytes.size();
    }

    /** Waits until the sweep that has begun, if one has, has ended. */
    void await() {
        sweeping.join();
    }

    /** Ends a sweep after the rows that it has found; the next start goes on with it. */
    void close() {
        open = false;
        await();
    }
}
