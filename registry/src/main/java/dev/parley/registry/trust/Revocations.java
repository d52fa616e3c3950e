package dev.parley.registry.trust;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.parley.extension.HubSignatures;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.registry.CompactJws;
import dev.parley.registry.Entry;
import dev.parley.registry.RegistryError;
import dev.parley.registry.RevocationList;
import dev.parley.registry.RevocationList.Revoked;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.spi.EntryListener;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Entries that were revoked, and the signed list of the public ones. They stay on it when their entries are erased, and neither their ids
 * nor their documents can be published again. Safe for any thread.
 */
public final class Revocations implements EntryListener {
    /** Validity of a list. Readers fetch it more often. */
    static final Duration VALIDITY = Duration.ofHours(24);

    /** Tables of revocations and trusted keys. */
    public static final ModuleTables TABLES = new ModuleTables("registry-trust", List.of("""
            CREATE TABLE registry_revocation (
                number  KEY PRIMARY KEY,
                id      TEXT NOT NULL UNIQUE,
                digest  TEXT NOT NULL,
                at_ms   BIGINT NOT NULL,
                reason  TEXT NOT NULL,
                listed  INTEGER NOT NULL
            );
            CREATE INDEX registry_revocation_by_digest ON registry_revocation (digest);
            CREATE TABLE registry_trusted_keys (fingerprint TEXT PRIMARY KEY);
            """));

    /** A list as it was signed last. */
    private record Signed(long sequence, Instant renewal, String jws) {}

    private final Database database;
    private final HubSignatures hub;
    private final String publisher;
    private final InstantSource clock;
    private volatile @Nullable Signed last;

    public Revocations(Database database, HubSignatures hub, String publisher, InstantSource clock) {
        this.database = database;
        this.hub = hub;
        this.publisher = publisher;
        this.clock = clock;
        database.migrate(TABLES);
    }

    @Override
    public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
        if (now.state().status() == Entry.Status.REVOKED) {
            // No other hub takes the number until the commit, for the change of the entry has locked the registry.
            session.update(
                    "INSERT INTO registry_revocation (number, id, digest, at_ms, reason, listed)"
                            + " SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? FROM registry_revocation WHERE TRUE"
                            + " ON CONFLICT DO NOTHING",
                    now.id(),
                    now.resource().digest(),
                    now.state().updated(),
                    now.trust().reason(),
                    now.ownership().visibility() == Entry.Visibility.PUBLIC ? 1 : 0);
        }
    }

    @Override
    public void erased(DatabaseSession session, long number) {
        // A revocation outlives its entry.
    }

    /**
     * Refuses an entry that was revoked, by its id or its document.
     *
     * @throws A2AException REVOKED
     */
    void check(Entry entry) {
        Optional<Revoked> revoked = database.read(session -> session.first(
                Revocations::row,
                "SELECT id, digest, at_ms, reason FROM registry_revocation WHERE id = ? OR digest = ? LIMIT 1",
                entry.id(),
                entry.resource().digest()));
        revoked.ifPresent(one -> {
            throw A2AException.of(
                    RegistryError.REVOKED, "entry " + one.id() + ": revoked at " + one.time() + ": " + one.reason());
        });
    }

    private static Revoked row(ResultSet row) throws SQLException {
        return new Revoked(
                DatabaseSession.text(row, 1),
                DatabaseSession.text(row, 2),
                Objects.requireNonNull(DatabaseSession.time(row, 3)),
                DatabaseSession.text(row, 4));
    }

    /**
     * The signed list, which is signed again after each revocation and before it expires.
     *
     * @throws A2AException NOT_SIGNED if the hub has no key to sign it
     */
    public WireDocument signed() {
        Instant now = clock.instant();
        long sequence = database.read(session -> session.number("SELECT max(number) FROM registry_revocation"));
        Signed known = last;
        if (known == null || known.sequence() != sequence || !now.isBefore(known.renewal())) {
            List<Revoked> revoked = database.read(session -> session.list(
                    Revocations::row,
                    "SELECT id, digest, at_ms, reason FROM registry_revocation WHERE listed = 1 AND number <= ?"
                            + " ORDER BY number",
                    sequence));
            var list = new RevocationList(publisher, sequence, now, now.plus(VALIDITY), revoked);
            byte[] payload = list.payload();
            String detached = hub.sign(payload)
                    .orElseThrow(() -> A2AException.of(
                            RegistryError.NOT_SIGNED, "revocations: this hub has no card key (expected: --card-key)"));
            known = new Signed(sequence, now.plus(VALIDITY.dividedBy(2)), new CompactJws(payload, detached).toString());
            last = known;
        }
        byte[] bytes = known.jws().getBytes(US_ASCII);
        return new WireDocument(
                bytes, RevocationList.MEDIA_TYPE, CardReader.digest(bytes).substring("sha256:".length()));
    }
}
