package dev.parley.store.audit;

import dev.parley.protocol.support.Sha256;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.Poll;
import dev.parley.store.spi.AuditNumbers;
import dev.parley.store.spi.ModuleTables;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Anchors of the audit of hubs that work at the same time. Once a minute one of them writes how far each chain goes, with a hash over that and
 * the anchor before. So the end of a chain that was cut, or a chain that was removed as a whole, is missed by the anchors after it.
 * For any thread.
 */
record AuditAnchors(Database database) {
    private static final String MODULE = "audit anchors";

    private static final ModuleTables TABLES = new ModuleTables(MODULE, List.of("""
            CREATE TABLE audit_anchor (
                anchor_no KEY PRIMARY KEY,
                at_ms     BIGINT NOT NULL,
                -- The newest stream that had begun.
                stream_no BIGINT NOT NULL,
                -- Number of the last entry and its hash, of each chain that had entries and may have grown since the anchor before; a line each.
                ends      TEXT NOT NULL,
                hash      TEXT NOT NULL
            );
            """));

    /** The other half stands for the schema. */
    private static final int LOCK = 727544;

    private static final long INTERVAL_MS = 60_000;

    private static final String DUE = " WHERE (SELECT coalesce(max(at_ms), 0) FROM audit_anchor)"
            + " <= extract(epoch FROM clock_timestamp()) * 1000 - " + INTERVAL_MS;

    /** Looks, of one a second, that are left out after one without an entry to anchor. */
    private static final int PAUSES = 10;

    private static final int ANCHORS_AT_ONCE = 100;

    private record Anchor(long number, long at, long stream, String ends, String hash) {
        static final Anchor NONE = new Anchor(0, 0, -1, "", AuditChain.GENESIS);

        String hashAfter(Anchor before) {
            return Sha256.hex(String.join("\n", before.hash, Long.toString(at), Long.toString(stream), ends));
        }
    }

    /** Makes the table if it is missing, and has anchors written from now on. */
    void begin() {
        database.migrate(TABLES);
        Poll.Question due = database.access().poll().add("SELECT 'due'" + DUE);
        var pauses = new AtomicInteger();
        database.access().feeds().follow(MODULE, () -> write(due, pauses));
    }

    /**
     * Writes an anchor if the newest one is a minute old, by the clock of the database.
     *
     * @param pauses number of looks that are left out, as nothing was added to the audit
     */
    private void write(Poll.Question due, AtomicInteger pauses) {
        if (pauses.get() > 0) {
            pauses.decrementAndGet();
        } else if (due.text().isPresent() && !database.write(AuditAnchors::write)) {
            pauses.set(PAUSES);
        }
    }

    private static boolean isDue(DatabaseSession session) throws SQLException {
        return session.number("SELECT 1" + DUE) == 1;
    }

    private static long now(DatabaseSession session) throws SQLException {
        return session.number("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)");
    }

    private static boolean write(DatabaseSession session) throws SQLException {
        boolean isFree = session.number(
                        "SELECT CAST(pg_try_advisory_xact_lock(" + LOCK + ", hashtext(current_schema())) AS INTEGER)")
                == 1;
        if (!isFree || !isDue(session)) {
            return false; // another hub writes it
        }
        Anchor newest = anchors(session, "ORDER BY anchor_no DESC", 0, 1).stream()
                .findFirst()
                .orElse(Anchor.NONE);
        // The chain of a hub that works at once has the number of its stream.
        List<String> ends = session.list(
                row -> row.getLong(1) + " " + DatabaseSession.text(row, 2),
                "SELECT audit_no, audit_hash FROM stream_newest UNION SELECT audit_no, audit_hash FROM stream_end"
                        + " WHERE stream_no > ? OR CAST(stream_no AS TEXT) = ANY (string_to_array(?, ',')) ORDER BY 1",
                newest.stream,
                String.join(",", chains(newest.ends)));
        String lines = String.join("\n", ends);
        if (lines.equals(newest.ends)) {
            return false; // nothing was added
        }
        var next = new Anchor(
                newest.number + 1,
                now(session),
                Math.max(newest.stream, session.number("SELECT max(stream_no) FROM stream")),
                lines,
                "");
        session.update(
                "INSERT INTO audit_anchor (anchor_no, at_ms, stream_no, ends, hash) VALUES (?, ?, ?, ?, ?)",
                next.number,
                next.at,
                next.stream,
                next.ends,
                next.hashAfter(newest));
        return true;
    }

    private static List<String> chains(String ends) {
        return ends.lines()
                .map(line -> Long.toString(AuditNumbers.chain(number(line))))
                .toList();
    }

    private static long number(String line) {
        return Long.parseLong(line.substring(0, line.indexOf(' ')));
    }

    private static List<Anchor> anchors(DatabaseSession session, String order, long after, int limit)
            throws SQLException {
        return session.list(
                row -> new Anchor(
                        row.getLong(1),
                        row.getLong(2),
                        row.getLong(3),
                        DatabaseSession.text(row, 4),
                        DatabaseSession.text(row, 5)),
                "SELECT anchor_no, at_ms, stream_no, ends, hash FROM audit_anchor WHERE anchor_no > ? " + order
                        + " LIMIT ?",
                after,
                limit);
    }

    /** Compares all anchors with the chains; returns the first difference. */
    Optional<String> problem() {
        if (database.read(session -> session.number("SELECT count(*) FROM module_version WHERE module = ?", MODULE))
                == 0) {
            return Optional.empty();
        }
        Anchor before = Anchor.NONE;
        List<Anchor> some;
        do {
            long after = before.number;
            some = database.read(session -> anchors(session, "ORDER BY anchor_no", after, ANCHORS_AT_ONCE));
            for (Anchor anchor : some) {
                if (anchor.number != before.number + 1 || !anchor.hash.equals(anchor.hashAfter(before))) {
                    return Optional.of("anchor " + (before.number + 1) + " is not what was written, or is missing");
                }
                Set<String> known = Set.copyOf(before.ends.lines().toList());
                Optional<String> missed = database.read(session -> missed(session, anchor, known));
                if (missed.isPresent()) {
                    return missed;
                }
                before = anchor;
            }
        } while (some.size() == ANCHORS_AT_ONCE);
        return Optional.empty();
    }

    private static Optional<String> missed(DatabaseSession session, Anchor anchor, Set<String> known)
            throws SQLException {
        for (String line : anchor.ends.lines().toList()) {
            long number = number(line);
            if (known.contains(line) || number == AuditNumbers.beginning(AuditNumbers.chain(number))) {
                continue; // as in the anchor before, or without entries
            }
            List<String> found = session.list(
                    row -> DatabaseSession.text(row, 1),
                    "SELECT hash FROM audit WHERE row_no = ?1 UNION ALL SELECT hash FROM audit_log WHERE row_no = ?1",
                    number);
            if (!found.contains(line.substring(line.indexOf(' ') + 1))) {
                return Optional.of("row " + number + " is missing, or is not what was written: anchor " + anchor.number
                        + " has it");
            }
        }
        return Optional.empty();
    }
}
