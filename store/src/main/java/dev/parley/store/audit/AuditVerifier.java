package dev.parley.store.audit;

import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditRows.Link;
import dev.parley.store.audit.AuditRows.Place;
import dev.parley.store.audit.AuditRows.Stored;
import dev.parley.store.database.DatabaseSession;
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

/** A walk along the audit's chain, from the first entry to the last. */
final class AuditVerifier {
    private long last;
    private String hash = AuditChain.GENESIS;
    private @Nullable String broken;

    /** Goes on by a page of rows, or by some links; false at the end. */
    boolean goOn(DatabaseSession session) throws SQLException {
        for (int entries = 0; entries < AuditRows.ENTRIES_AT_ONCE && broken == null; ) {
            List<Link> next = AuditRows.links(session, last, 1);
            long until = next.isEmpty() ? Long.MAX_VALUE : next.getFirst().first() - 1;
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
                broken = endProblem(session, last, hash).orElse(null);
                return false;
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

    Verification result() {
        return new Verification(last, hash, broken);
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
            return number > last && isAnyBehind(session, last)
                    ? Optional.empty()
                    : Optional.of("row " + (last + 1) + " is missing: the chain ended at row " + number);
        }
    }

    private static boolean isAnyBehind(DatabaseSession session, long number) throws SQLException {
        return session.number(
                        "SELECT (SELECT count(*) FROM audit WHERE row_no = ?1) + (SELECT count(*) FROM audit_log"
                                + " WHERE row_no > ?1)",
                        number + 1)
                > 0;
    }
}
