package dev.parley.registry.store;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.registry.Difference;
import dev.parley.registry.HistoryOperation;
import dev.parley.registry.HistoryOperation.Comparison;
import dev.parley.registry.HistoryOperation.Verdict;
import dev.parley.registry.document.CardDiff;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.document.CardReader.Reading;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Versions of documents, with their differences to the versions before. Safe for any thread. */
record History(Database database) {
    /** Versions of an entry that are kept. */
    private static final int KEPT = 100;

    static final Codec<List<Difference>> JSON = Codecs.list(Difference.JSON);

    /** Bytes of a version. */
    record Version(int revision, String type, byte[] bytes) {
        Reading read() {
            return CardReader.read(type, bytes, null, null, Map.of());
        }
    }

    static void add(
            DatabaseSession session,
            Numbered entry,
            Instant time,
            String principal,
            List<Difference> differences,
            byte[] bytes)
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
                JsonText.write(JSON, differences),
                bytes);
        session.update(
                "DELETE FROM registry_document WHERE entry = ? AND revision <= ?", entry.number(), revision - KEPT);
    }

    /** A version; the newest one for null. */
    Optional<Version> version(long entry, @Nullable Long revision) {
        return database.read(session -> session.first(
                row -> new Version(row.getInt(1), DatabaseSession.text(row, 2), row.getBytes(3)),
                "SELECT revision, type, bytes FROM registry_document WHERE entry = ? AND revision <= ?"
                        + " ORDER BY revision DESC LIMIT 1",
                entry,
                revision == null ? Integer.MAX_VALUE : revision));
    }

    /** All versions, the newest first. */
    List<HistoryOperation.Version> list(long entry) {
        return database.read(session -> session.list(
                row -> new HistoryOperation.Version(
                        row.getInt(1),
                        Instant.ofEpochMilli(row.getLong(2)),
                        DatabaseSession.text(row, 3),
                        JsonText.read(row.getBytes(4), JSON)),
                "SELECT revision, at_ms, principal, changes FROM registry_document WHERE entry = ? ORDER BY revision DESC",
                entry));
    }

    /** The differences between two versions; by default of the newest one to the one before. */
    Comparison diff(long entry, @Nullable Long from, @Nullable Long to) {
        Version after = version(entry, to).orElseThrow(() -> unknown("to", to));
        if (from == null && after.revision() == 1) {
            throw A2AException.invalidParams(
                    "from", "the entry has no version before 1 (expected: a newer version to compare)");
        }
        long older = from != null ? from : after.revision() - 1L;
        Version before = version(entry, older).orElseThrow(() -> unknown("from", older));
        List<Difference> differences = CardDiff.of(before.read(), after.read());
        return new Comparison(before.revision(), after.revision(), Verdict.of(differences), differences);
    }

    private static A2AException unknown(String name, @Nullable Object revision) {
        return A2AException.invalidParams(name, revision + " (expected: a version of the entry)");
    }
}
