package dev.parley.registry.store;

import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.registry.store.CardDiff.Difference;
import dev.parley.registry.store.CardReader.Reading;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.Database;
import dev.parley.store.database.Session;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Versions of documents, with their differences to the versions before. Safe for any thread. */
final class History {
    /** Versions of an entry that are kept. */
    private static final int KEPT = 100;

    /** Bytes of a version. */
    record Version(int revision, String type, byte[] bytes) {
        Reading read() {
            return CardReader.read(type, bytes, null, null, Map.of());
        }
    }

    private final Database database;

    History(Database database) {
        this.database = database;
    }

    static void add(
            Session session, Numbered entry, Instant time, String principal, List<Difference> differences, byte[] bytes)
            throws SQLException {
        int revision = entry.entry().state().revision();
        session.update(
                "INSERT INTO registry_document (entry, revision, at_ms, principal, type, changes, bytes)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?)",
                entry.number(),
                revision,
                time,
                principal,
                entry.entry().resource().type(),
                json(differences),
                bytes);
        session.update(
                "DELETE FROM registry_document WHERE entry = ? AND revision <= ?", entry.number(), revision - KEPT);
    }

    static byte[] json(List<Difference> differences) {
        return Json.write(differences.stream().map(Difference::json).toList());
    }

    /** A version; the newest one for null. */
    Optional<Version> version(long entry, @Nullable Long revision) {
        return database.read(session -> session.first(
                row -> new Version(row.getInt(1), Session.text(row, 2), row.getBytes(3)),
                "SELECT revision, type, bytes FROM registry_document WHERE entry = ? AND revision <= ?"
                        + " ORDER BY revision DESC LIMIT 1",
                entry,
                revision == null ? Integer.MAX_VALUE : revision));
    }

    /** All versions in JSON, the newest first. */
    List<Map<String, Object>> list(long entry) {
        return database.read(session -> session.list(
                row -> {
                    var version = new LinkedHashMap<String, Object>();
                    version.put("revision", row.getInt(1));
                    version.put("time", Instant.ofEpochMilli(row.getLong(2)).toString());
                    version.put("principal", Session.text(row, 3));
                    version.put("changes", Json.read(row.getBytes(4), Object.class));
                    return version;
                },
                "SELECT revision, at_ms, principal, changes FROM registry_document WHERE entry = ? ORDER BY revision DESC",
                entry));
    }

    /** The differences between two versions; by default of the newest one to the one before. */
    Map<String, Object> diff(long entry, @Nullable Long from, @Nullable Long to) {
        Version after = version(entry, to).orElseThrow(() -> unknown("to", to));
        if (from == null && after.revision() == 1) {
            throw A2AException.invalidParams(
                    "from", "the entry has no version before 1 (expected: a newer version to compare)");
        }
        long older = from != null ? from : after.revision() - 1L;
        Version before = version(entry, older).orElseThrow(() -> unknown("from", older));
        List<Difference> differences = CardDiff.of(before.read(), after.read());
        var answer = new LinkedHashMap<String, Object>();
        answer.put("from", before.revision());
        answer.put("to", after.revision());
        answer.put("verdict", verdict(differences));
        answer.put("changes", differences.stream().map(Difference::json).toList());
        return answer;
    }

    private static A2AException unknown(String name, @Nullable Object revision) {
        return A2AException.invalidParams(name, revision + " (expected: a version of the entry)");
    }

    /** The worst kind among differences; {@code same} if there are none. */
    static String verdict(List<Difference> differences) {
        return differences.isEmpty() ? "same" : differences.getFirst().kind();
    }
}
