package dev.parley.registry.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.store.database.Database;
import dev.parley.store.database.Session;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Entries, versions, reviews and notes of one principal, for exports and erasures. Safe for any thread. */
public final class PersonalEntries {
    private static final int VERSIONS = 10;
    private static final int REVIEWS = 1_000;

    /** Entries of which the principal has been the owner, as far as their changes are kept. */
    private static final String ONCE_OWNED =
            "entry IN (SELECT c.entry FROM registry_change c WHERE c.group_id = ? AND c.owner = ?)";

    /** Versions of own entries, and those that the principal has published in entries of the group or in former ones. */
    private static final String VERSIONS_OF = " FROM registry_document d JOIN registry_entry e ON e.number = d.entry"
            + " WHERE (e.group_id = ? AND (e.owner = ? OR d.principal = ?) OR d.principal = ? AND d." + ONCE_OWNED
            + ")";

    private final Database database;
    private final StoredEntries entries;

    public PersonalEntries(Database database, StoredEntries entries) {
        this.database = database;
        this.entries = entries;
    }

    /** A page of versions of documents, in JSON: the newest version of an entry first, behind the first {@code after}. */
    public Map<String, Object> versions(String group, String principal, long after) {
        List<Map<String, Object>> page = database.read(session -> session.list(
                row -> {
                    var version = new LinkedHashMap<String, Object>();
                    version.put("id", Session.text(row, 1));
                    version.put("revision", row.getInt(2));
                    version.put("time", Instant.ofEpochMilli(row.getLong(3)).toString());
                    version.put("publisher", Session.text(row, 4));
                    version.put("entry", Json.read(row.getBytes(5), Map.class));
                    version.put("document", new String(row.getBytes(6), UTF_8));
                    return version;
                },
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
        return page("agentVersions", page, VERSIONS, after);
    }

    /** A page of reviews and notes, in JSON, behind the first {@code after}. */
    public Map<String, Object> reviews(String group, String principal, long after) {
        List<Map<String, Object>> page = database.read(session -> session.list(
                row -> {
                    var review = new LinkedHashMap<String, Object>();
                    review.put("id", Session.text(row, 1));
                    review.put("kind", Session.text(row, 2));
                    review.put("time", Instant.ofEpochMilli(row.getLong(3)).toString());
                    if (row.getInt(4) > 0) {
                        review.put("stars", row.getInt(4));
                    }
                    review.put("text", Session.text(row, 5));
                    return review;
                },
                "SELECT e.id, r.kind, r.at_ms, r.stars, r.text FROM registry_review r JOIN registry_entry e"
                        + " ON e.number = r.entry WHERE r.group_id = ? AND r.principal = ?"
                        + " ORDER BY r.entry, r.kind LIMIT ? OFFSET ?",
                group,
                principal,
                REVIEWS,
                after));
        return page("agentReviews", page, REVIEWS, after);
    }

    private static Map<String, Object> page(String name, List<Map<String, Object>> page, int size, long after) {
        return page.size() < size ? Map.of(name, page) : Map.of(name, page, "next", after + size);
    }

    /**
     * Erases the entries of a principal with all versions, its notes, and the texts of its reviews, whose stars stay without an author. A
     * random name replaces it in versions and changes of entries that have other owners now.
     *
     * @return numbers of erased entries and reviews
     */
    public Map<String, Object> erase(String group, String principal) {
        String pseudonym = "erased-" + UUID.randomUUID();
        int owned = entries.eraseOwned(group, principal, pseudonym);
        var bytes = new EntryBytes(database.storage());
        int reviews = database.erase(session -> {
            bytes.review(session, -1, "group_id = ? AND principal = ?", group, principal);
            int notes = session.update(
                    "DELETE FROM registry_review WHERE group_id = ? AND principal = ? AND kind = ?",
                    group,
                    principal,
                    Reviews.NOTE);
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
