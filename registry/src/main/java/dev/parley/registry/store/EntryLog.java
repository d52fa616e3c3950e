package dev.parley.registry.store;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.store.ChangeFeed.Batch;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.rows.DamagedRows;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Log of the changes of entries, and the feeds of its readers. Safe for any thread. */
public final class EntryLog {
    /** Changes of an entry that are kept. */
    private static final int KEPT = 100;

    private static final int CHANGES_AT_ONCE = 500;

    /** Whether a viewer could see the entry of a change at its time: an operator, or a member of a group. */
    private static final String SEEN = "(? = 1 OR c.owner = '" + Entry.HUB
            + "' OR c.visibility = 2 OR c.group_id = ? AND (c.visibility = 1 OR c.owner = ?))";

    private final Database database;
    private final Disclosure disclosure;
    private final OtherHubs others;
    private final DamagedRows damaged = new DamagedRows("change of a registry entry, number");
    private final ChangeFeed feed = new ChangeFeed();

    EntryLog(Database database, Disclosure disclosure, OtherHubs others) {
        this.database = database;
        this.disclosure = disclosure;
        this.others = others;
    }

    /** Writes the row of a change, and deletes the oldest rows of the entry. */
    static void add(
            DatabaseSession session,
            @Nullable Numbered before,
            Numbered written,
            Instant now,
            EntryChange.Kind kind,
            Map<String, Object> details)
            throws SQLException {
        Entry entry = written.entry();
        int visibility = EntryRows.rank(entry.ownership().visibility());
        session.update(
                "INSERT INTO registry_change (number, entry, at_ms, kind, group_id, owner, visibility, details)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                entry.state().change(),
                written.number(),
                now,
                EntryModel.word(kind),
                entry.ownership().group(),
                entry.ownership().principal(),
                before == null
                        ? visibility
                        : Math.max(
                                visibility,
                                EntryRows.rank(before.entry().ownership().visibility())),
                Json.write(details));
        if (before != null) {
            session.update(
                    "DELETE FROM registry_change WHERE entry = ? AND number <= (SELECT number FROM registry_change"
                            + " WHERE entry = ? ORDER BY number DESC LIMIT 1 OFFSET " + KEPT + ")",
                    written.number(),
                    written.number());
        }
    }

    /** Wakes the readers of the log after a commit of this hub, at all hubs. */
    void wake() {
        wakeReaders();
        others.tell();
    }

    /** Wakes the readers at this hub. */
    void wakeReaders() {
        feed.wake();
    }

    /** Number of the last change. */
    long newest() {
        return database.read(EntryRows::newestChange);
    }

    /** Changes after a number that the caller may see, and those that follow. */
    public Feed<EntryChange> changes(long after, EntryFilter filter, CallContext viewer) {
        return feed.open(after, from -> database.read(session -> batch(session, from, filter, viewer)));
    }

    /** The changes after a number, at most so many. */
    Batch changesOnce(long after, EntryFilter filter, int size, CallContext viewer) {
        var changes = new ArrayList<EntryChange>();
        long last = after;
        while (true) {
            long from = last;
            Batch batch = database.read(session -> batch(session, from, filter, viewer));
            for (EntryChange change : batch.changes()) {
                changes.add(change);
                if (changes.size() == size) {
                    return new Batch(changes, change.number());
                }
            }
            last = batch.last();
            if (last == from) {
                return new Batch(changes, last);
            }
        }
    }

    /** A page of changes. An entry that the viewer may no longer see is shown as deleted, without its content. */
    private Batch batch(DatabaseSession session, long after, EntryFilter filter, CallContext caller)
            throws SQLException {
        Viewer viewer = disclosure.viewer(caller);
        var last = new long[] {after};
        long end = end(session, after, viewer);
        var changes = new ArrayList<EntryChange>();
        damaged.list(
                session,
                row -> {
                    last[0] = row.getLong(1);
                    Numbered entry = Numbered.of(row, 8);
                    Entry now = entry.entry();
                    var ownership = new Ownership(
                            DatabaseSession.text(row, 4),
                            DatabaseSession.text(row, 5),
                            EntryRows.visibility(row.getInt(6)));
                    Entry then = now.with(ownership).with(now.state().with(Status.ACTIVE));
                    if (viewer.sees(then)) {
                        Entry shown = viewer.sees(now) ? disclosure.shown(entry, caller) : Disclosure.tombstone(now);
                        boolean isWhole = entry.views() == null || viewer.owns(now);
                        if (EntryQuery.fits(shown, filter) || shown.state().status() == Status.DELETED) {
                            changes.add(new EntryChange(
                                    row.getLong(1),
                                    requireNonNull(DatabaseSession.time(row, 2)),
                                    EntryModel.constant(
                                            EntryChange.Kind.class,
                                            DatabaseSession.text(row, 3),
                                            EntryChange.Kind.CHANGED),
                                    isWhole ? JsonText.read(row.getBytes(7), Codecs.STRUCT) : Map.of(),
                                    shown));
                        }
                    }
                    return last;
                },
                "SELECT c.number, c.at_ms, c.kind, c.group_id, c.owner, c.visibility, c.details, " + EntryRows.COLUMNS
                        + " FROM registry_change c JOIN registry_entry e ON e.number = c.entry"
                        + " WHERE c.number > ? AND c.number <= ? AND " + SEEN + " ORDER BY c.number",
                after,
                end,
                viewer.isOperator() ? 1 : 0,
                viewer.isStranger() ? "" : viewer.group(),
                viewer.principal());
        return new Batch(changes, Math.max(last[0], end));
    }

    /**
     * Number of the last change of a page: of the last one of so many, or whose entries do not have more bytes than a page. Entries that the
     * viewer could not see are not read.
     */
    private static long end(DatabaseSession session, long after, Viewer viewer) throws SQLException {
        record Weighed(long number, long bytes) {}
        long end = after;
        long bytes = 0;
        for (Weighed change : session.list(
                row -> new Weighed(row.getLong(1), row.getLong(2)),
                "SELECT c.number, CASE WHEN " + SEEN + " THEN length(e.content) ELSE 0 END FROM registry_change c"
                        + " JOIN registry_entry e ON e.number = c.entry WHERE c.number > ? ORDER BY c.number LIMIT "
                        + CHANGES_AT_ONCE,
                viewer.isOperator() ? 1 : 0,
                viewer.isStranger() ? "" : viewer.group(),
                viewer.principal(),
                after)) {
            bytes += change.bytes();
            if (end > after && bytes > EntryQuery.PAGE_BYTES) {
                break;
            }
            end = change.number();
        }
        return end;
    }

    boolean isClosed() {
        return feed.isClosed();
    }

    /** Ends all feeds of changes. */
    public void close() {
        feed.close();
    }
}
