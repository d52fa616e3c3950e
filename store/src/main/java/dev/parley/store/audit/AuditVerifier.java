package dev.parley.store.audit;

import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditRows.Link;
import dev.parley.store.audit.AuditRows.Place;
import dev.parley.store.audit.AuditRows.Stored;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.AuditNumbers;
import java.security.MessageDigest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A walk along the chains of the audit, one after the other, each from its first entry to its last. */
final class AuditVerifier {
    private final boolean hasChains;
    /** Entries of the chains before, and the hashes of their last ones. */
    private long ended;

    private final List<String> ends = new ArrayList<>();
    private long chain;
    private long last;
    private String hash = AuditChain.GENESIS;
    private @Nullable String broken;

    /** @param hasChains whether the database may have several chains */
    AuditVerifier(boolean hasChains) {
        this.hasChains = hasChains;
    }

    /** Goes on by a page of rows, or by some links; false at the end. */
    boolean goOn(DatabaseSession session) throws SQLException {
        for (int entries = 0; entries < AuditRows.ENTRIES_AT_ONCE && broken == null; ) {
            long end = hasChains ? AuditNumbers.beginning(chain + 1) : Long.MAX_VALUE;
            List<Link> next = AuditRows.links(session, last, 1).stream()
                    .filter(link -> link.last() <= end)
                    .toList();
            long until = next.isEmpty() ? end : next.getFirst().first() - 1;
            // A row inserted before the first one is found with it.
            long from = last == 0 ? Long.MIN_VALUE : last;
            List<Stored> rows = AuditRows.stored(
                    session, "row_no > ? AND row_no <= ?", Arrays.asList(from, until, AuditRows.ROWS_AT_ONCE));
            for (Stored row : rows) {
                if (broken == null) {
                    check(row);
                }
            }
            if (broken != null || rows.size() == AuditRows.ROWS_AT_ONCE) {
                return broken == null;
            }
            if (next.isEmpty()) {
                broken = (hasChains ? chainProblem(session) : endProblem(session, last, hash)).orElse(null);
                if (broken != null || !hasChains || !goesOn(session)) {
                    return false;
                }
                continue;
            }
            if (last != until) {
                broken = "row " + (last + 1) + " is missing";
                return false;
            }
            check(session, next.getFirst());
            entries += next.getFirst().entries();
        }
        return broken == null;
    }

    private void check(Stored one) {
        AuditRow row = one.row();
        if (row.number() != last + 1) {
            broken = row.number() <= last ? "row " + row.number() + " was added" : "row " + (last + 1) + " is missing";
            return;
        }
        String expected = AuditChain.chained(
                hash,
                row.number(),
                row.at().toEpochMilli(),
                row.entry(),
                one.detailInChain(),
                one.salt(),
                AuditChain::forgettable);
        if (!expected.equals(row.hash())) {
            broken = "row " + row.number() + " is not what was written, or the one before is not";
            return;
        }
        last = row.number();
        hash = expected;
    }

    private void check(DatabaseSession session, Link link) throws SQLException {
        String[] all = link.placesInOrder();
        MessageDigest hashes = Sha256.digest();
        MessageDigest one = Sha256.digest();
        var parts = new HashMap<String, List<Place>>();
        for (int i = 0; i < all.length; i++) {
            long number = link.first() + i;
            LoggedEntry logged = AuditRows.at(session, all[i], true);
            byte[] hashOfEvents;
            AuditEntry entry;
            String salt;
            if (logged != null && logged.number() == number) {
                entry = logged.entry();
                salt = logged.salt();
                parts.computeIfAbsent(entry.group(), any -> new ArrayList<>()).add(new Place(number, all[i]));
                hashOfEvents = one.digest(logged.events());
            } else {
                // Its task was removed, be it meanwhile: then it is a row.
                List<Stored> rows = AuditRows.stored(session, "row_no = ?", Arrays.asList(number, 1));
                if (rows.isEmpty() || !AuditChain.isHex(rows.getFirst().row().hash())) {
                    broken = "row " + number + " is missing";
                    return;
                }
                entry = rows.getFirst().row().entry();
                salt = rows.getFirst().salt();
                hashOfEvents = HexFormat.of().parseHex(rows.getFirst().row().hash());
            }
            String address = AuditChain.addressInChain(entry.address(), salt);
            hashes.update(AuditChain.entryDigest(
                    one, number, link.at(), entry, address, hashOfEvents, AuditChain::forgettable));
        }
        String expected = AuditChain.chained(hash, link.last(), link.at(), all.length, link.places(), hashes.digest());
        if (all.length != link.entries() || !expected.equals(link.hash())) {
            broken = "row " + link.first()
                    + (link.entries() == 1 ? " is" : " or one of those up to row " + link.last() + " is")
                    + " not what was written, or the one before is not";
            return;
        }
        for (Map.Entry<String, List<Place>> part : parts.entrySet()) {
            if (!AuditRows.hasPlaces(session, part.getKey(), link.last(), part.getValue())) {
                broken = "row " + part.getValue().getFirst().number() + " is missing in the list of its group";
                return;
            }
        }
        last = link.last();
        hash = expected;
    }

    /** @param missed what the anchors miss; null for nothing */
    Verification result(@Nullable String missed) {
        long rows = ended + last - AuditNumbers.beginning(chain);
        String end = ends.isEmpty() ? hash : Sha256.hex(String.join("\n", ends) + "\n" + hash);
        return new Verification(rows, end, broken == null ? missed : broken);
    }

    /** Begins the next chain; false if there is none. */
    private boolean goesOn(DatabaseSession session) throws SQLException {
        long end = AuditNumbers.beginning(chain + 1);
        long next = session.number(
                "SELECT min(row_no) FROM (SELECT min(row_no) AS row_no FROM audit WHERE row_no > ?1"
                        + " UNION ALL SELECT min(row_no) FROM audit_log WHERE row_no > ?1"
                        + " UNION ALL SELECT min(audit_no) FROM stream_newest WHERE audit_no > ?1"
                        + " UNION ALL SELECT min(audit_no) FROM stream_end WHERE audit_no > ?1) AS places",
                end);
        if (next == 0) {
            return false;
        }
        ended += last - AuditNumbers.beginning(chain);
        ends.add(hash);
        // The number before its first entry is the place of a chain without entries.
        chain = AuditNumbers.chain(next);
        last = AuditNumbers.beginning(chain);
        hash = AuditChain.GENESIS;
        return true;
    }

    /** Compares the end of the chain with those of the streams that have written it. */
    private Optional<String> chainProblem(DatabaseSession session) throws SQLException {
        long from = AuditNumbers.beginning(chain);
        long end = AuditNumbers.beginning(chain + 1);
        try (ResultSet row = session.bind(
                        "SELECT audit_no, audit_hash FROM (SELECT audit_no, audit_hash, 1 AS living FROM stream_newest"
                                + " UNION ALL SELECT audit_no, audit_hash, 0 FROM stream_end) AS ends"
                                + " WHERE audit_no >= ? AND audit_no < ? ORDER BY living DESC, audit_no DESC LIMIT 1",
                        from,
                        end)
                .executeQuery()) {
            long number = row.next() ? row.getLong(1) : from;
            if (number == last && (number == from || hash.equals(DatabaseSession.text(row, 2)))) {
                return session.number(
                                        "SELECT count(*) FROM stream_newest WHERE audit_no >= ? AND audit_no < ?",
                                        from,
                                        end)
                                > 1
                        ? Optional.of("the chain has two ends")
                        : Optional.empty();
            }
            return number > last && isAnyAfter(session, last, end)
                    ? Optional.empty()
                    : Optional.of("row " + (last + 1) + " is missing: the chain ended at row " + number);
        }
    }

    private static Optional<String> endProblem(DatabaseSession session, long last, String chain) throws SQLException {
        try (ResultSet row = session.bind("SELECT row_no, hash FROM audit_end").executeQuery()) {
            long number = row.next() ? row.getLong(1) : 0;
            boolean right = number == last && (number == 0 || chain.equals(DatabaseSession.text(row, 2)));
            if (number > 0 && row.next()) {
                return Optional.of("the chain has two ends");
            }
            if (right) {
                return Optional.empty();
            }
            // Entries may have come since the last page was read; they are at the end, and not looked at.
            return number > last && isAnyAfter(session, last, Long.MAX_VALUE)
                    ? Optional.empty()
                    : Optional.of("row " + (last + 1) + " is missing: the chain ended at row " + number);
        }
    }

    /** @param end number after those of the chain */
    private static boolean isAnyAfter(DatabaseSession session, long number, long end) throws SQLException {
        return session.number(
                        "SELECT (SELECT count(*) FROM audit WHERE row_no = ?1) + (SELECT count(*) FROM audit_log"
                                + " WHERE row_no > ?1 AND row_no < ?2)",
                        number + 1,
                        end)
                > 0;
    }
}
