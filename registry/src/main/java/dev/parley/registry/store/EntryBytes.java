package dev.parley.registry.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Ownership;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of entries for the quotas of their groups, on the writer thread. An entry has those of its versions and changes, its row has their
 * sum. Agents of the hub itself and copies from peers count for no group, reviews for the groups of their authors.
 */
record EntryBytes(Storage storage) {
    /** Bytes of the rows of an entry, in SQL. */
    static final String SUM = "200 + length(content) + coalesce(length(views), 0) + coalesce(length(open), 0)"
            + " + coalesce((SELECT sum(200 + length(d.changes) + length(d.bytes)) FROM registry_document d"
            + " WHERE d.entry = registry_entry.number), 0)"
            + " + coalesce((SELECT sum(200 + length(c.details)) FROM registry_change c"
            + " WHERE c.entry = registry_entry.number), 0)";

    /** Bytes of a review, in SQL. */
    private static final String OF_REVIEW = Storage.ROW + " + octet_length(text)";

    private static boolean counts(Ownership owner) {
        return !owner.principal().equals(Entry.HUB) && !owner.group().equals(Entry.HUB);
    }

    private static Kind kind(Entry entry) {
        return entry.state().status() == Entry.Status.DELETED ? Kind.DELETED : Kind.REGISTRY;
    }

    /** Counts an entry as its rows are now. */
    void count(DatabaseSession session, Numbered now) throws SQLException {
        if (counts(now.entry().ownership())) {
            session.update("UPDATE registry_entry SET bytes = " + SUM + " WHERE number = ?", now.number());
            add(now.entry(), stored(session, now.number()));
        }
    }

    /** Counts an entry no more. To be called before its rows change. */
    void remove(DatabaseSession session, Numbered before) throws SQLException {
        if (counts(before.entry().ownership())) {
            add(before.entry(), -stored(session, before.number()));
        }
    }

    private void add(Entry entry, long bytes) {
        storage.add(entry.ownership().group(), kind(entry), bytes);
    }

    private static long stored(DatabaseSession session, long number) throws SQLException {
        return session.number("SELECT bytes FROM registry_entry WHERE number = ?", number);
    }

    /**
     * Refuses a change of an entry that does not fit. To be called before the first write.
     *
     * @param before null for a new entry
     * @param more bytes besides the entry itself
     */
    void require(DatabaseSession session, @Nullable Numbered before, Entry now, int content, long more)
            throws SQLException {
        Ownership owner = now.ownership();
        if (!counts(owner)) {
            return;
        }
        boolean isOther = before == null
                || kind(before.entry()) != kind(now)
                || !before.entry().ownership().group().equals(owner.group());
        long known = before == null ? 0 : isOther ? -stored(session, before.number()) : before.content().length;
        storage.require(owner.group(), more + content - known + (before == null ? Storage.ROW : 0));
    }

    /** Counts a review, or counts it no more, with a sign. */
    void review(DatabaseSession session, int sign, String where, @Nullable Object... values) throws SQLException {
        record Sum(String group, long bytes) {}
        for (Sum sum : session.list(
                row -> new Sum(DatabaseSession.text(row, 1), row.getLong(2)),
                "SELECT group_id, sum(" + OF_REVIEW + ") FROM registry_review WHERE " + where + " GROUP BY group_id",
                values)) {
            storage.add(sum.group(), Kind.REGISTRY, sign * sum.bytes());
        }
    }

    /** Refuses a review that does not fit in the place of another one. */
    void requireReview(DatabaseSession session, String text, String where, String group, Object... values)
            throws SQLException {
        long before = session.number("SELECT sum(" + OF_REVIEW + ") FROM registry_review WHERE " + where, values);
        storage.require(group, Storage.ROW + text.getBytes(UTF_8).length - before);
    }

    /** Whether the deleted entries of a group take more than their share of its quota. */
    boolean hasTooManyDeleted(String group) {
        return storage.isOver(group, Kind.DELETED);
    }
}
