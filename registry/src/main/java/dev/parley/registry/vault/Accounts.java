package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.parley.extension.HubTimers.Timers;
import dev.parley.protocol.support.Sha256;
import dev.parley.registry.vault.Tokens.Login;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.security.MessageDigest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Accounts of developers with their keys, in tables. Nothing is cached: a key or a token that is revoked is refused by the next call, at
 * each hub of the database. Safe for any thread.
 */
final class Accounts {
    private static final List<String> TABLES = List.of("""
            CREATE TABLE registry_developer (
                developer_no KEY PRIMARY KEY,
                name         TEXT NOT NULL UNIQUE,
                email        TEXT NOT NULL,
                email_key    TEXT NOT NULL UNIQUE,
                password     TEXT NOT NULL,
                password_ms  BIGINT NOT NULL,
                created_ms   BIGINT NOT NULL,
                verified     INTEGER NOT NULL,
                token_hash   TEXT UNIQUE,
                expires_ms   BIGINT NOT NULL
            );
            CREATE TABLE registry_recovery_key (
                developer_no BIGINT NOT NULL,
                number       INTEGER NOT NULL,
                hash         TEXT NOT NULL,
                PRIMARY KEY (developer_no, number)
            ) ROWLESS;
            CREATE TABLE registry_developer_key (
                key_no       KEY PRIMARY KEY,
                developer_no BIGINT NOT NULL,
                hash         TEXT NOT NULL UNIQUE,
                description  TEXT,
                created_ms   BIGINT NOT NULL,
                used_ms      BIGINT,
                active       INTEGER NOT NULL
            );
            CREATE INDEX registry_developer_key_of ON registry_developer_key (developer_no, active);
            """);

    private static final Duration VERIFIABLE = Duration.ofHours(24);
    private static final int RECOVERY_KEYS = 3;
    private static final String COLUMNS =
            "SELECT developer_no, name, email, password, password_ms, created_ms, verified, expires_ms"
                    + " FROM registry_developer WHERE ";

    /** Time between two records of the use of a key. */
    private static final Duration USE_NOTED = Duration.ofMinutes(1);

    private final Database database;
    private final Tokens tokens;
    private final Passwords passwords;
    private final InstantSource clock;
    private final Timers mails;

    /** @param mails timers, by the numbers of accounts, that send the mail with {@link #verificationToken} */
    Accounts(Database database, Tokens tokens, Passwords passwords, InstantSource clock, Timers mails) {
        this.database = database;
        this.tokens = tokens;
        this.passwords = passwords;
        this.clock = clock;
        this.mails = mails;
        database.migrate("registry-accounts", TABLES);
    }

    /** An account. */
    record Developer(
            long id,
            String name,
            String email,
            String password,
            long passwordMs,
            Instant created,
            boolean verified,
            Instant expires) {
        private static Developer read(ResultSet row) throws SQLException {
            return new Developer(
                    row.getLong(1),
                    DatabaseSession.text(row, 2),
                    DatabaseSession.text(row, 3),
                    DatabaseSession.text(row, 4),
                    row.getLong(5),
                    Instant.ofEpochMilli(row.getLong(6)),
                    row.getInt(7) == 1,
                    Instant.ofEpochMilli(row.getLong(8)));
        }

        /** The account as answers show it. */
        Map<String, Object> json() {
            var json = new LinkedHashMap<String, Object>();
            json.put("id", id);
            json.put("name", name);
            json.put("email", email);
            json.put("created_at", created.toString());
            json.put("is_verified", verified);
            return json;
        }

        private Login login(@Nullable Integer recoveryKey) {
            return new Login(id, passwordMs, recoveryKey);
        }
    }

    /** A key of an account. */
    record Key(
            long id,
            @Nullable String description,
            Instant created,
            @Nullable Instant used) {
        private static Key read(ResultSet row) throws SQLException {
            return new Key(
                    row.getLong(1),
                    DatabaseSession.text(row, 2),
                    Instant.ofEpochMilli(row.getLong(3)),
                    DatabaseSession.time(row, 4));
        }

        Map<String, @Nullable Object> json() {
            var json = new LinkedHashMap<String, @Nullable Object>();
            json.put("id", id);
            json.put("key_prefix", Tokens.KEY_PREFIX);
            json.put("description", description);
            json.put("is_active", true);
            json.put("created_at", created.toString());
            json.put("last_used_at", used == null ? null : used.toString());
            return json;
        }
    }

    /** Outcomes of the verification of a mail address. */
    enum Verification {
        VERIFIED("verify-success"),
        ALREADY("verify-success?status=already_verified"),
        UNKNOWN("verify-failed"),
        EXPIRED("verify-failed?reason=expired");

        final String page;

        Verification(String page) {
            this.page = page;
        }
    }

    /**
     * Adds an account, and returns its recovery keys.
     *
     * @throws Refusal 400 if the address is known, 409 if the name is
     */
    List<String> register(String name, String email, String password, String from) {
        String key = email.toLowerCase(Locale.ROOT);
        if (database.read(session -> session.number("SELECT count(*) FROM registry_developer WHERE email_key = ?", key))
                > 0) {
            throw Refusal.of(400, "Email already registered.");
        }
        String hash = passwords.hash(password, from);
        var recovery = new ArrayList<String>();
        for (int i = 0; i < RECOVERY_KEYS; i++) {
            recovery.add(Tokens.newRecoveryKey());
        }
        Instant now = Instant.ofEpochMilli(clock.millis());
        boolean added = database.write(session -> {
            if (session.number("SELECT count(*) FROM registry_developer WHERE email_key = ? OR name = ?", key, name)
                    > 0) {
                return false;
            }
            long id = session.number("SELECT coalesce(max(developer_no), 0) + 1 FROM registry_developer");
            Instant expires = now.plus(VERIFIABLE);
            session.update(
                    "INSERT INTO registry_developer (developer_no, name, email, email_key, password, password_ms, created_ms,"
                            + " verified, token_hash, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
                    id,
                    name,
                    email,
                    key,
                    hash,
                    now,
                    now,
                    Sha256.hex(tokens.verification(id, email, expires)),
                    expires);
            for (int i = 0; i < RECOVERY_KEYS; i++) {
                session.update(
                        "INSERT INTO registry_recovery_key (developer_no, number, hash) VALUES (?, ?, ?)",
                        id,
                        i,
                        Sha256.hex(recovery.get(i)));
            }
            mails.set(session, Long.toString(id), now, "");
            return true;
        });
        if (!added) {
            throw Refusal.of(409, "Username or email already exists.");
        }
        return recovery;
    }

    /** The token of the verification mail of an account; empty if the mail is of no use any more. */
    Optional<String> verificationToken(Developer developer) {
        return developer.verified() || !developer.expires().isAfter(clock.instant())
                ? Optional.empty()
                : Optional.of(tokens.verification(developer.id(), developer.email(), developer.expires()));
    }

    Verification verify(String token) {
        Optional<Developer> found = byVerification(token);
        if (found.isEmpty()) {
            return Verification.UNKNOWN;
        }
        if (found.get().verified()) {
            return Verification.ALREADY;
        }
        if (!found.get().expires().isAfter(clock.instant())) {
            return Verification.EXPIRED;
        }
        database.write(session -> session.update(
                "UPDATE registry_developer SET verified = 1 WHERE developer_no = ?",
                found.get().id()));
        return Verification.VERIFIED;
    }

    /** The token of a login; empty for a wrong address or password. */
    Optional<String> login(String email, String password, String from) {
        Optional<Developer> found = byEmail(email);
        boolean matches =
                passwords.matches(password, found.map(Developer::password).orElse(null), from);
        return found.filter(developer -> matches).map(developer -> tokens.issue(developer.login(null)));
    }

    /** The token that sets a password; empty for a wrong key, or an account that does not exist or is not verified. */
    Optional<String> recover(String email, String recoveryKey) {
        Optional<Developer> found = byEmail(email);
        byte[] hash = Sha256.hex(recoveryKey).getBytes(US_ASCII);
        long id = found.filter(Developer::verified).map(Developer::id).orElse(0L);
        List<Integer> matching = database
                .read(session -> session.list(
                        row -> MessageDigest.isEqual(
                                        hash, DatabaseSession.text(row, 2).getBytes(US_ASCII))
                                ? row.getInt(1)
                                : -1,
                        "SELECT number, hash FROM registry_recovery_key WHERE developer_no = ?",
                        id))
                .stream()
                .filter(number -> number >= 0)
                .toList();
        return matching.isEmpty()
                ? Optional.empty()
                : found.map(developer -> tokens.issue(developer.login(matching.getFirst())));
    }

    /** Sets a password, which ends all tokens of the account and uses the recovery key up; false for a token that is used up. */
    boolean setPassword(String token, String password, String from) {
        Optional<Login> login = tokens.read(token).filter(read -> read.recoveryKey() != null);
        if (login.flatMap(this::current).isEmpty()) {
            return false;
        }
        String hash = passwords.hash(password, from);
        long developer = login.get().developer();
        return database.write(session -> session.update(
                                "DELETE FROM registry_recovery_key WHERE developer_no = ? AND number = ?",
                                developer,
                                login.get().recoveryKey())
                        == 1
                && session.update(
                                "UPDATE registry_developer SET password = ?, password_ms = ? WHERE developer_no = ?",
                                hash,
                                Math.max(clock.millis(), login.get().password() + 1),
                                developer)
                        == 1);
    }

    /** The account of a login, as long as its password has not changed. */
    Optional<Developer> current(Login login) {
        return byId(login.developer()).filter(developer -> developer.passwordMs() == login.password());
    }

    Optional<Developer> byEmail(String email) {
        return one("email_key = ?", email.toLowerCase(Locale.ROOT));
    }

    /** The account of a verification mail. */
    Optional<Developer> byVerification(String token) {
        return one("token_hash = ?", Sha256.hex(token));
    }

    Optional<Developer> byId(long id) {
        return one("developer_no = ?", id);
    }

    /** The account of a key that is not revoked. */
    Optional<Developer> byKey(String key) {
        String hash = Sha256.hex(key);
        Instant now = clock.instant();
        Optional<long[]> found = database.read(session -> session.first(
                row -> new long[] {row.getLong(1), row.getLong(2), row.getLong(3)},
                "SELECT key_no, developer_no, coalesce(used_ms, 0) FROM registry_developer_key WHERE hash = ? AND active = 1",
                hash));
        if (found.isEmpty()) {
            return Optional.empty();
        }
        if (found.get()[2] + USE_NOTED.toMillis() < now.toEpochMilli()) {
            database.write(session -> session.update(
                    "UPDATE registry_developer_key SET used_ms = ? WHERE key_no = ?", now, found.get()[0]));
        }
        return byId(found.get()[1]);
    }

    /** Adds a key to an account; its text is not stored. */
    Key addKey(Developer developer, String key, @Nullable String description) {
        Instant now = Instant.ofEpochMilli(clock.millis());
        return database.write(session -> {
            long id = session.number("SELECT coalesce(max(key_no), 0) + 1 FROM registry_developer_key");
            session.update(
                    "INSERT INTO registry_developer_key (key_no, developer_no, hash, description, created_ms, active)"
                            + " VALUES (?, ?, ?, ?, ?, 1)",
                    id,
                    developer.id(),
                    Sha256.hex(key),
                    description,
                    now);
            return new Key(id, description, now, null);
        });
    }

    /** The active keys of an account, the newest one first. */
    List<Key> keys(Developer developer) {
        return database.read(session -> session.list(
                Key::read,
                "SELECT key_no, description, created_ms, used_ms FROM registry_developer_key"
                        + " WHERE developer_no = ? AND active = 1 ORDER BY key_no DESC",
                developer.id()));
    }

    /** Revokes a key of an account; false if it has no such key. */
    boolean revokeKey(Developer developer, long key) {
        return database.write(session -> session.update(
                        "UPDATE registry_developer_key SET active = 0 WHERE key_no = ? AND developer_no = ? AND active = 1",
                        key,
                        developer.id()))
                == 1;
    }

    /**
     * Erases what an account says about a person, its keys and its tokens. The number stays, so that no other account gets the cards.
     *
     * @return how many accounts have changed
     */
    int erase(long id) {
        String placeholder = "erased\t" + id; // no account can have this name
        return database.erase(session -> {
            session.update("DELETE FROM registry_recovery_key WHERE developer_no = ?", id);
            session.update("DELETE FROM registry_developer_key WHERE developer_no = ?", id);
            return session.update(
                    "UPDATE registry_developer SET name = ?, email = '', email_key = ?, password = '', password_ms = password_ms + 1,"
                            + " verified = 0, token_hash = NULL, expires_ms = 0 WHERE developer_no = ?",
                    placeholder,
                    placeholder,
                    id);
        });
    }

    private Optional<Developer> one(String condition, Object value) {
        return database.read(session -> session.first(Developer::read, COLUMNS + condition, value));
    }
}
