package dev.parley.registry.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.EntryModel;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Entries, versions, reviews and notes of one principal, for exports and erasures. Safe for any thread. */
public record PersonalEntries(Database database, EntryWriter writer) {
    private static final int VERSIONS = 10;
    private static final int REVIEWS = 1_000;

    /** Entries of which the principal has been the owner, as far as their changes are kept. */
    private static final String ONCE_OWNED =
            "entry IN (SELECT c.entry FROM registry_change c WHERE c.group_id = ? AND c.owner = ?)";

    /** Versions of own entries, and those that the principal has published in entries of the group or in former ones. */
    private static final String VERSIONS_OF = " FROM registry_document d JOIN registry_entry e ON e.number = d.entry"
            + " WHERE (e.group_id = ? AND (e.owner = ? OR d.principal = ?) OR d.principal = ? AND d." + ONCE_OWNED
            + ")";

    /**
     * A version of a document.
     *
     * @param id of its entry
     * @param publisher principal that has published it
     * @param entry as it was then
     */
    public record Version(
            String id,
            long revision,
            Instant time,
            String publisher,
            Map<String, @Nullable Object> entry,
            String document) {}

    /** Kind of a text about an entry. */
    public enum Kind {
        REVIEW,
        NOTE
    }

    /**
     * A review of an entry, or a note on it.
     *
     * @param stars 0 for none
     */
    public record Review(String id, Kind kind, Instant time, long stars, String text) {}

    /**
     * A page.
     *
     * @param next how many items are on it and before it; null on the last page
     */
    public record Page<T>(List<T> items, @Nullable Long next) {
        static <T> Page<T> of(List<T> items, int size, long after) {
            return new Page<>(items, items.size() < size ? null : after + size);
        }
    }

    /** A page of versions of documents: the newest version of an entry first, after the first {@code after}. */
    public Page<Version> versions(String group, String principal, long after) {
        List<Version> page = database.read(session -> session.list(
                row -> new Version(
                        DatabaseSession.text(row, 1),
                        row.getInt(2),
                        Instant.ofEpochMilli(row.getLong(3)),
                        DatabaseSession.text(row, 4),
                        JsonText.read(row.getBytes(5), Codecs.STRUCT),
                        new String(row.getBytes(6), UTF_8)),
                "SELECT e.id, d.revision, d.at_ms, d.principal, e.content, d.bytes" + VERSIONS_OF
                        + " ORDER BY d.entry, d.revision DESC LIMIT ? OFFSET ?",
                group,
                principal,
                principal,
                principal,
                group,
                principal,
                VERSIONS,
                after));
        return Page.of(page, VERSIONS, after);
    }

    /** A page of reviews and notes, after the first {@code after}. */
    public Page<Review> reviews(String group, String principal, long after) {
        List<Review> page = database.read(session -> session.list(
                row -> new Review(
                        DatabaseSession.text(row, 1),
                        Kind.valueOf(DatabaseSession.text(row, 2).toUpperCase(Locale.ROOT)),
                        Instant.ofEpochMilli(row.getLong(3)),
                        Math.max(row.getInt(4), 0),
                        DatabaseSession.text(row, 5)),
                "SELECT e.id, r.kind, r.at_ms, r.stars, r.text FROM registry_review r JOIN registry_entry e"
                        + " ON e.number = r.entry WHERE r.group_id = ? AND r.principal = ?"
                        + " ORDER BY r.entry, r.kind LIMIT ? OFFSET ?",
                group,
                principal,
                REVIEWS,
                after));
        return Page.of(page, REVIEWS, after);
    }

    /**
     * Erases the entries of a principal with all versions, its notes, and the texts of its reviews, whose stars stay without an author. A
     * random name replaces it in versions and changes of entries that have other owners now.
     *
     * @return numbers of erased entries and reviews
     */
    public Map<String, Object> erase(String group, String principal) {
        String pseudonym = "erased-" + UUID.randomUUID();
        int owned = writer.eraseOwned(group, principal, pseudonym);
        var bytes = new EntryBytes(database.storage());
        int reviews = database.erase(session -> {
            bytes.review(session, -1, "group_id = ? AND principal = ?", group, principal);
            int notes = session.update(
                    "DELETE FROM registry_review WHERE group_id = ? AND principal = ? AND kind = ?",
                    group,
                    principal,
                    EntryModel.word(Kind.NOTE));
            int texts = session.update(
                    "UPDATE registry_review SET principal = ?, text = '' WHERE group_id = ? AND principal = ?",
                    pseudonym,
                    group,
                    principal);
            bytes.review(session, 1, "group_id = ? AND principal = ?", group, pseudonym);
            return notes + texts;
        });
        var unused = database.erase(session -> {
            session.update(
                    "UPDATE registry_document SET principal = ? WHERE principal = ? AND (" + ONCE_OWNED
                            + " OR entry IN (SELECT e.number FROM registry_entry e WHERE e.group_id = ?))",
                    pseudonym,
                    principal,
                    group,
                    principal,
                    group);
            session.update(
                    "UPDATE registry_change SET details = ? WHERE kind = 'transferred' AND group_id = ? AND owner = ?",
                    Json.write(Map.of()),
                    group,
                    principal);
            return session.update(
                    "UPDATE registry_change SET owner = ? WHERE group_id = ? AND owner = ?",
                    pseudonym,
                    group,
                    principal);
        });
        return Map.of("agents", owned, "agentReviews", reviews);
    }
}
