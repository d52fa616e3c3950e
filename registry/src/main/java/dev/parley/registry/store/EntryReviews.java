package dev.parley.registry.store;

import dev.parley.protocol.CallContext;
import dev.parley.registry.EntryModel;
import dev.parley.registry.ReviewOperation.Review;
import dev.parley.registry.ReviewOperation.ReviewList;
import dev.parley.registry.store.PersonalEntries.Kind;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** Reviews of entries, and notes of groups on them: one of each kind by a caller. Safe for any thread. */
final class EntryReviews {
    private static final int MOST = 500;

    private final Database database;
    private final EntryBytes bytes;
    private final EntryReader reader;
    private final EntryWriter writer;
    private final InstantSource clock;

    EntryReviews(Database database, EntryReader reader, EntryWriter writer, InstantSource clock) {
        this.database = database;
        this.bytes = new EntryBytes(database.storage());
        this.reader = reader;
        this.writer = writer;
        this.clock = clock;
    }

    /** Writes a review or a note of a caller in place of the one before; one without stars and text removes it. */
    void write(String id, Kind kind, long stars, String text, CallContext caller) {
        long entry = reader.require(id, caller).number();
        String group = caller.scope().group();
        if (kind == Kind.NOTE) {
            int unused = database.admit(group, session -> write(session, entry, kind, stars, text, caller));
            return;
        }
        Optional<Integer> unused = writer.lock().within(work -> database.admit(group, work), session -> {
            int rows = write(session, entry, kind, stars, text, caller);
            writer.reviewed(session, entry);
            return Optional.of(rows);
        });
    }

    private int write(DatabaseSession session, long entry, Kind kind, long stars, String text, CallContext caller)
            throws SQLException {
        String group = caller.scope().group();
        String where = "entry = ? AND kind = ? AND group_id = ? AND principal = ?";
        Object[] key = {entry, EntryModel.word(kind), group, caller.caller()};
        boolean isRemoved = stars == 0 && text.isBlank();
        if (!isRemoved) {
            bytes.requireReview(session, text, where, group, key);
        }
        bytes.review(session, -1, where, key);
        int written = isRemoved
                ? session.update("DELETE FROM registry_review WHERE " + where, key)
                : session.update(
                        "INSERT INTO registry_review (entry, kind, group_id, principal, at_ms, stars, text)"
                                + " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (entry, kind, group_id, principal)"
                                + " DO UPDATE SET at_ms = excluded.at_ms, stars = excluded.stars, text = excluded.text",
                        entry,
                        EntryModel.word(kind),
                        group,
                        caller.caller(),
                        clock.instant(),
                        stars,
                        text);
        bytes.review(session, 1, where, key);
        return written;
    }

    /** Reviews, and notes of the caller's group, the newest first. */
    ReviewList list(String id, CallContext caller) {
        long entry = reader.require(id, caller).number();
        return database.read(session -> {
            double average = session.first(
                            row -> row.getDouble(1),
                            "SELECT coalesce(avg(stars), 0) FROM registry_review WHERE entry = ? AND kind = 'review'",
                            entry)
                    .orElse(0.0);
            return new ReviewList(
                    session.number("SELECT count(*) FROM registry_review WHERE entry = ? AND kind = 'review'", entry),
                    Math.round(average * 100) / 100.0,
                    rows(session, entry, Kind.REVIEW, ""),
                    caller.isUnauthenticated()
                            ? List.of()
                            : rows(session, entry, Kind.NOTE, caller.scope().group()));
        });
    }

    /** @param group of the authors; empty for all */
    private static List<Review> rows(DatabaseSession session, long entry, Kind kind, String group) throws SQLException {
        return session.list(
                row -> new Review(
                        DatabaseSession.text(row, 1),
                        row.getInt(2),
                        DatabaseSession.text(row, 3),
                        Instant.ofEpochMilli(row.getLong(4))),
                "SELECT principal, stars, text, at_ms FROM registry_review WHERE entry = ? AND kind = ?"
                        + " AND (? = '' OR group_id = ?) ORDER BY at_ms DESC LIMIT " + MOST,
                entry,
                EntryModel.word(kind),
                group,
                group);
    }
}
