package dev.parley.registry.federation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.protocol.support.AesGcm;
import dev.parley.registry.RevocationList;
import dev.parley.registry.RevocationList.Revoked;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import java.security.GeneralSecurityException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Peers in the database, with the positions of their copies. They are read for each search, so all hubs of a database know of a change. */
final class PeerTable {
    private static final System.Logger LOG = System.getLogger("dev.parley.registry");

    private static final String SCHEMA = """
            CREATE TABLE registry_peer (
                name       TEXT PRIMARY KEY,
                url        TEXT NOT NULL,
                keys       TEXT NOT NULL,
                credential BLOB NOT NULL,
                publishers TEXT NOT NULL,
                copied     INTEGER NOT NULL,
                cut        TEXT,
                position   BIGINT NOT NULL,
                sequence   BIGINT NOT NULL,
                copied_ms  BIGINT,
                problem    TEXT NOT NULL
            );
            CREATE TABLE registry_peer_revocation (
                peer   TEXT NOT NULL,
                id     TEXT NOT NULL,
                digest TEXT NOT NULL,
                PRIMARY KEY (peer, id)
            ) ROWLESS;
            """;

    static final ModuleTables TABLES = new ModuleTables("registry-peers", List.of(SCHEMA));

    /**
     * State of the copies of a peer.
     *
     * @param position number of the last change that was copied
     * @param sequence of its last list of revocations
     * @param problem of the last attempt; empty for none
     */
    record Copies(long position, long sequence, @Nullable Instant time, String problem) {}

    private final Database database;
    private final byte[] key;

    /** @param key encrypts credentials */
    PeerTable(Database database, byte[] key) {
        this.key = key.clone();
        this.database = database;
        database.migrate(TABLES);
    }

    private Peer peer(ResultSet row) throws SQLException {
        String name = DatabaseSession.text(row, 1);
        String publishers = DatabaseSession.text(row, 5);
        return new Peer(
                name,
                DatabaseSession.text(row, 2),
                DatabaseSession.text(row, 3),
                opened(row.getBytes(4), name),
                publishers.isEmpty() ? List.of() : Arrays.asList(publishers.split(" ")),
                row.getInt(6) == 1,
                DatabaseSession.text(row, 7));
    }

    /** A credential is encrypted, and empty if the secret key of the hub is another one. */
    private String opened(byte[] sealed, String name) {
        try {
            return new String(AesGcm.open(key, name.getBytes(UTF_8), sealed, 0), UTF_8);
        } catch (GeneralSecurityException another) {
            LOG.log(System.Logger.Level.WARNING, "the credential for peer " + name + " cannot be decrypted", another);
            return "";
        }
    }

    List<Peer> all() {
        return database.read(session -> session.list(
                this::peer,
                "SELECT name, url, keys, credential, publishers, copied, cut FROM registry_peer ORDER BY name"));
    }

    Optional<Peer> named(String name) {
        return all().stream().filter(peer -> peer.name().equals(name)).findFirst();
    }

    /** Adds a peer, or replaces it with its copies still to be made. */
    void put(Peer peer) {
        byte[] credential =
                AesGcm.seal(key, peer.name().getBytes(UTF_8), peer.credential().getBytes(UTF_8), 0);
        database.write(session -> session.update(
                "INSERT INTO registry_peer (name, url, keys, credential, publishers, copied, cut, position, sequence, problem)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, '') ON CONFLICT (name) DO UPDATE SET url = excluded.url,"
                        + " keys = excluded.keys, credential = excluded.credential, publishers = excluded.publishers,"
                        + " copied = excluded.copied, cut = excluded.cut, position = 0, sequence = 0, copied_ms = NULL,"
                        + " problem = ''",
                peer.name(),
                peer.url(),
                peer.keys(),
                credential,
                String.join(" ", peer.publishers()),
                peer.copied() ? 1 : 0,
                peer.cut()));
    }

    void remove(String name) {
        database.write(session -> {
            session.update("DELETE FROM registry_peer_revocation WHERE peer = ?", name);
            return session.update("DELETE FROM registry_peer WHERE name = ?", name);
        });
    }

    /** Cuts a peer off, or uses it again; its copies begin anew. */
    void cut(String name, @Nullable String reason) {
        database.write(session ->
                session.update("UPDATE registry_peer SET cut = ?, position = 0 WHERE name = ?", reason, name));
    }

    Copies copies(String name) {
        return database.read(session -> session.first(
                        row -> new Copies(
                                row.getLong(1),
                                row.getLong(2),
                                DatabaseSession.time(row, 3),
                                DatabaseSession.text(row, 4)),
                        "SELECT position, sequence, copied_ms, problem FROM registry_peer WHERE name = ?",
                        name)
                .orElse(new Copies(0, 0, null, "")));
    }

    /** Notes that changes up to a number are copied; nothing if the peer was cut off meanwhile. */
    void copied(String name, long position, String problem) {
        database.write(session -> session.update(
                "UPDATE registry_peer SET position = ?, copied_ms = ?, problem = ? WHERE name = ? AND cut IS NULL",
                position,
                Instant.now(),
                problem,
                name));
    }

    /** Replaces the revocations of a peer, unless the list is older than the last one. */
    boolean revoked(String name, RevocationList list) {
        return database.write(session -> {
            if (session.update(
                            "UPDATE registry_peer SET sequence = ? WHERE name = ? AND sequence <= ?",
                            list.sequence(),
                            name,
                            list.sequence())
                    == 0) {
                return false;
            }
            session.update("DELETE FROM registry_peer_revocation WHERE peer = ?", name);
            for (Revoked one : list.revoked()) {
                session.update(
                        "INSERT INTO registry_peer_revocation (peer, id, digest) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                        name,
                        one.id(),
                        one.digest());
            }
            return true;
        });
    }

    boolean isRevoked(String name, String id) {
        return database.read(session -> session.number(
                        "SELECT count(*) FROM registry_peer_revocation WHERE peer = ? AND id = ?", name, id))
                > 0;
    }
}
