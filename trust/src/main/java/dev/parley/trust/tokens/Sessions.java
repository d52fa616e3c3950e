package dev.parley.trust.tokens;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.LruMap;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.rows.DamagedRows;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.spi.StoreException;
import java.security.MessageDigest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sessions of browsers: each has a credential, which a request with the id of the session has sent instead; in the place of an API key of
 * the directory it has the id of that key. The database has the hash of an id, and the credential encrypted by a key that follows from the
 * id: neither a session nor a credential can be read there. A session
 * has a proof beside its id, of which the database has a hash, too. Safe for any thread.
 */
public final class Sessions {
    /** Longest life of a session. */
    public static final Duration LIFE = Duration.ofHours(12);

    /** Time after which a session is read again: its row may have been removed by a tool, or restored from a backup. */
    private static final Duration FRESH = Duration.ofSeconds(5);

    private static final int MOST_KEPT = 10_000;
    /** Sessions of a user; another one ends the oldest. */
    private static final int MOST_OF_USER = 100;

    private static final int ID_BYTES = 16;

    /** Kinds of credentials. */
    public enum Kind {
        /** Id of an API key of the directory, instead of the key: there is nothing in it to steal. */
        KEY_ID,
        /** API key of the configuration. */
        KEY,
        /** Bearer token. */
        TOKEN
    }

    /** Credential of a session. */
    public record Credential(Kind kind, String text) {
        /** Without the credential, for logs. */
        @Override
        public String toString() {
            return kind == Kind.TOKEN ? "token" : "key";
        }
    }

    /** A session, by the id that its browser has. */
    public record BrowserSession(
            String id, String group, String name, Credential credential, Instant expires, String proofHash) {
        /** Whether a text is the proof of the session. Compares in constant time. */
        public boolean isProvedBy(String proof) {
            return MessageDigest.isEqual(hash(proof).getBytes(UTF_8), proofHash.getBytes(UTF_8));
        }

        /** Without the id, for logs. */
        @Override
        public String toString() {
            return "session of " + group + "/" + name;
        }
    }

    /** A session for a page that has signed in, with its proof. */
    public record NewSession(BrowserSession session, String proof) {
        /** Without the proof, for logs. */
        @Override
        public String toString() {
            return session.toString();
        }
    }

    /**
     * A session as it was read, good until a time.
     *
     * @param session null for one that has ended here: a read that began before must not bring it back
     */
    private record Known(@Nullable BrowserSession session, Instant until) {}

    private record Owner(String group, String name) {}

    private final Database database;
    private final AuditTrail audit;
    private final InstantSource clock;
    private final Seal ids;
    private final Seal proofs;
    private final DamagedRows damaged = new DamagedRows("session");
    private final Map<String, Known> known = Collections.synchronizedMap(new LruMap<>(MOST_KEPT));
    private final Epochs epochs;
    /** Times at which all were forgotten. Guarded by the map. */
    private long forgotten;

    /**
     * @param database with the table of sessions
     * @param key at least 32 secret bytes
     */
    public Sessions(Database database, AuditTrail audit, byte[] key, InstantSource clock) {
        this.database = database;
        this.audit = audit;
        this.clock = clock;
        this.ids = new Seal(key, "sessions of browsers");
        this.proofs = new Seal(key, "proofs of sessions of browsers");
        this.epochs = database.access().epochs();
        epochs.keep(Epoch.SIGN_INS, this::forgetAll);
        epochs.keep(Epoch.DIRECTORY, this::forgetAll); // sessions of a user may be erased with it
    }

    /**
     * Begins a session of a user.
     *
     * @param expires of the credential; null for never
     * @param detail of the row in the audit
     */
    public NewSession begin(
            String group,
            String name,
            Credential credential,
            @Nullable Instant expires,
            Map<String, ?> detail,
            String address) {
        String text = Secrets.random(ID_BYTES);
        String id = text + "." + ids.of(text);
        String proof = proofs.of(id);
        Instant now = now();
        Instant last = now.plus(LIFE);
        Instant end = expires == null || expires.isAfter(last) ? last : expires;
        String hash = hash(id);
        String proofHash = hash(proof);
        byte[] sealed = cipher(id).seal((credential.kind() + " " + credential.text()).getBytes(UTF_8), hash);
        var entry = entry(group, name, "session.begun", address, detail);
        var endOfOldest = entry(group, name, "session.ended", address, Map.of("reason", "too many sessions"));
        List<String> replaced = database.write(group, session -> {
            session.update("DELETE FROM trust_session WHERE expires_ms < ?", now);
            List<String> oldest = session.list(
                    row -> DatabaseSession.text(row, 1),
                    "SELECT session_hash FROM trust_session WHERE group_id = ? AND principal = ?"
                            + " ORDER BY begun_ms DESC, session_hash LIMIT 1000 OFFSET ?",
                    group,
                    name,
                    MOST_OF_USER - 1);
            for (String each : oldest) {
                session.update("DELETE FROM trust_session WHERE session_hash = ?", each);
                audit.add(session, endOfOldest);
                epochs.bump(session, Epoch.SIGN_INS);
            }
            session.update(
                    "INSERT INTO trust_session (session_hash, group_id, principal, credential, begun_ms, expires_ms, proof_hash)"
                            + " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    hash,
                    group,
                    name,
                    Base64.getEncoder().encodeToString(sealed),
                    now,
                    end,
                    proofHash);
            audit.add(session, entry);
            return oldest;
        });
        replaced.forEach(this::markEnded);
        return new NewSession(new BrowserSession(id, group, name, credential, end, proofHash), proof);
    }

    /**
     * Returns a session of a browser for another of its pages, which has signed in by the same credential; null if there is none of that
     * credential. A new one would end that of the first page: a browser has one cookie for all of its pages.
     */
    public @Nullable NewSession again(String id, String group, String name, Credential credential) {
        BrowserSession session = find(id);
        return session != null
                        && session.group().equals(group)
                        && session.name().equals(name)
                        && session.credential().equals(credential)
                ? new NewSession(session, proofs.of(id))
                : null;
    }

    /** Returns the session of an id; null if there is none, or it has ended. */
    public @Nullable BrowserSession find(String id) {
        if (!isOfThisHub(id)) {
            return null;
        }
        Instant now = now();
        String hash = hash(id);
        Known last = known.get(hash);
        BrowserSession session = last != null && now.isBefore(last.until())
                ? last.session()
                : read(id, hash, last == null ? null : last.session(), now);
        if (session != null && !now.isBefore(session.expires())) {
            known.remove(hash);
            return null;
        }
        return session;
    }

    private boolean isOfThisHub(String id) {
        int dot = id.indexOf('.');
        return dot >= 0 && ids.fits(id.substring(0, dot), id.substring(dot + 1));
    }

    /** @param last the session as it was read before; null for none */
    private @Nullable BrowserSession read(String id, String hash, @Nullable BrowserSession last, Instant now) {
        BrowserSession session;
        long before;
        synchronized (known) {
            before = forgotten;
        }
        try {
            List<BrowserSession> rows = database.read(reader -> damaged.list(
                    reader,
                    row -> session(row, id, hash),
                    "SELECT session_hash, group_id, principal, credential, expires_ms, proof_hash FROM trust_session"
                            + " WHERE session_hash = ?",
                    hash));
            session = rows.isEmpty() ? null : rows.getFirst();
        } catch (RuntimeException failure) {
            if (last == null || !StoreException.isTemporary(failure)) {
                throw failure;
            }
            session = last; // as keys, which are known without the database
        }
        synchronized (known) {
            Known current = known.get(hash);
            if (current != null && current.session() == null && now.isBefore(current.until())) {
                return null;
            }
            if (session == null) {
                known.remove(hash);
            } else {
                known.put(hash, new Known(session, before == forgotten ? now.plus(FRESH) : now));
            }
        }
        return session;
    }

    /** Has all sessions read again, since another hub may have ended some. */
    private void forgetAll() {
        synchronized (known) {
            forgotten++;
            known.values().removeIf(each -> each.session() != null);
        }
    }

    /** Forgets the sessions of a user whose rows were erased. */
    public void forget(String group, String name) {
        Instant until = now().plus(FRESH);
        known.replaceAll((hash, each) -> {
            BrowserSession session = each.session();
            return session != null
                            && session.group().equals(group)
                            && session.name().equals(name)
                    ? new Known(null, until)
                    : each;
        });
    }

    private void markEnded(String hash) {
        known.put(hash, new Known(null, now().plus(FRESH)));
    }

    private static BrowserSession session(ResultSet row, String id, String hash) throws SQLException {
        byte[] stored = Base64.getDecoder().decode(DatabaseSession.text(row, 4));
        String credential = new String(cipher(id).open(stored, hash), UTF_8);
        int blank = credential.indexOf(' ');
        return new BrowserSession(
                id,
                DatabaseSession.text(row, 2),
                DatabaseSession.text(row, 3),
                new Credential(Kind.valueOf(credential.substring(0, blank)), credential.substring(blank + 1)),
                requireNonNull(DatabaseSession.time(row, 5)),
                DatabaseSession.text(row, 6));
    }

    /** Ends the session of an id, also one whose credential cannot be read. Nothing happens if there is none. */
    public void end(String id, String address) {
        if (!isOfThisHub(id)) {
            return;
        }
        String hash = hash(id);
        Optional<Owner> owner = database.read(reader -> reader.first(
                row -> new Owner(DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)),
                "SELECT group_id, principal FROM trust_session WHERE session_hash = ?",
                hash));
        long number = owner.map(user -> {
                    var entry = entry(user.group(), user.name(), "session.ended", address, Map.of());
                    return database.write(user.group(), session -> {
                        if (session.update("DELETE FROM trust_session WHERE session_hash = ?", hash) == 0) {
                            return 0L;
                        }
                        audit.add(session, entry);
                        return epochs.bump(session, Epoch.SIGN_INS);
                    });
                })
                .orElse(0L);
        markEnded(hash);
        epochs.barrier(Epoch.SIGN_INS, number);
    }

    private static AuditEntry entry(String group, String name, String action, String address, Map<String, ?> detail) {
        return new AuditEntry(group, name, action, name, group + "/" + name, "ok", address, "", detail);
    }

    private static String hash(String secret) {
        return HexFormat.of().formatHex(Sha256.of(secret));
    }

    private static ValueCipher cipher(String id) {
        return ValueCipher.of(List.of(Base64.getEncoder().encodeToString(Sha256.of("credential of a session\n" + id))));
    }

    /** The time with the precision of the database. */
    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }
}
