package dev.parley.trust.tokens;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.protocol.support.LruMap;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import java.security.MessageDigest;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Sign-ins of users through OAuth clients: a code that is good once and for a minute, then refresh tokens, each good once. A code or
 * token that comes again ends its sign-in. In the database there is no code and no token. Safe for any thread.
 *
 * <p>Source: RFC 6749, sections 4.1.2 and 10.4; RFC 7636; RFC 9700, sections 2.1.1 and 4.14.
 */
public final class SignIns {
    /** Life of a code. */
    public static final Duration CODE_LIFE = Duration.ofMinutes(1);
    /** Time for which a sign-in lasts after its last refresh. */
    public static final Duration LIFE = Duration.ofDays(30);
    /** A refresh token that comes again so soon is a repetition by its client, whose answer was lost. */
    private static final Duration REPETITION = Duration.ofSeconds(10);

    private static final int MOST_OF_USER = 100;
    private static final int MOST_REVOKED = 10_000;
    /** Access tokens of a sign-in have expired so long after its end, also if the clocks of hubs differ. */
    private static final Duration OUTLIVED = Duration.ofHours(2);

    private static final String COLUMNS =
            "sign_in_id, group_id, principal, key_id, client, redirect, challenge, scopes,"
                    + " resource, code_used_ms, turns, refreshed_ms, expires_ms, revoked_ms";

    /** @param key id of the API key in the directory by which the user has signed in; empty for one of the configuration */
    public record User(String group, String name, String key) {}

    /**
     * A sign-in.
     *
     * @param scopes that the user has granted the client
     * @param resource for which its tokens are: the address of the hub, or one below
     */
    public record SignIn(String id, User user, Set<String> scopes, String resource) {}

    /** Tokens for a client. */
    public record Issued(SignIn signIn, String refreshToken) {}

    private record Row(
            SignIn signIn,
            String client,
            String redirect,
            String challenge,
            @Nullable Instant codeUsed,
            int turns,
            @Nullable Instant refreshed,
            Instant expires,
            @Nullable Instant revoked) {}

    private final Database database;
    private final AuditTrail audit;
    private final InstantSource clock;
    private final Seal codes;
    private final Seal refreshTokens;
    /** Ids of sign-ins whose access tokens may not have expired. */
    private final Set<String> revoked =
            Collections.newSetFromMap(Collections.synchronizedMap(new LruMap<>(MOST_REVOKED)));

    private final Epochs epochs;

    /**
     * @param database with the table of sign-ins
     * @param key at least 32 secret bytes
     */
    public SignIns(Database database, AuditTrail audit, byte[] key, InstantSource clock) {
        this.database = database;
        this.audit = audit;
        this.clock = clock;
        this.codes = new Seal(key, "authorization codes");
        this.refreshTokens = new Seal(key, "refresh tokens");
        this.epochs = database.access().epochs();
        epochs.keep(Epoch.SIGN_INS, this::readRevoked);
        if (epochs.isShared()) {
            readRevoked();
        }
    }

    /** Reads the sign-ins that other hubs have ended. */
    private void readRevoked() {
        revoked.addAll(database.read(session -> session.list(
                row -> DatabaseSession.text(row, 1),
                "SELECT sign_in_id FROM trust_sign_in WHERE revoked_ms > ? ORDER BY revoked_ms DESC LIMIT ?",
                now().minus(OUTLIVED),
                MOST_REVOKED)));
    }

    /** Begins a sign-in, and returns its code. */
    public String begin(
            User user,
            Clients.Client client,
            String redirect,
            String challenge,
            Set<String> scopes,
            String resource,
            String address) {
        String id = Secrets.random(16);
        Instant now = now();
        String member = user.group() + "/" + user.name();
        var entry = new AuditEntry(
                user.group(),
                user.name(),
                "oauth.signed-in",
                client.name(),
                member,
                "ok",
                address,
                "",
                Map.of("scopes", String.join(" ", new TreeSet<>(scopes)), "redirect", redirect));
        database.write(user.group(), session -> {
            session.update("DELETE FROM trust_sign_in WHERE expires_ms < ?", now);
            session.update(
                    "DELETE FROM trust_sign_in WHERE sign_in_id IN (SELECT sign_in_id FROM trust_sign_in WHERE group_id = ?"
                            + " AND principal = ? ORDER BY expires_ms DESC LIMIT 1000 OFFSET ?)",
                    user.group(),
                    user.name(),
                    MOST_OF_USER - 1);
            session.update(
                    "INSERT INTO trust_sign_in (sign_in_id, group_id, principal, key_id, client, redirect, challenge, scopes,"
                            + " resource, turns, expires_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
                    id,
                    user.group(),
                    user.name(),
                    user.key(),
                    client(client),
                    redirect,
                    challenge,
                    String.join(" ", new TreeSet<>(scopes)),
                    resource,
                    now.plus(CODE_LIFE));
            audit.add(session, entry);
            return id;
        });
        return id + "." + codes.of(id);
    }

    /**
     * Takes a code for tokens; empty if it is not good. A code is good for one attempt.
     *
     * @param redirect the address to which it was brought
     * @param verifier of which the challenge was made
     */
    public Optional<Issued> redeem(String code, Clients.Client client, String redirect, String verifier) {
        String id = opened(code, codes);
        if (id == null) {
            return Optional.empty();
        }
        Instant now = now();
        var ended = new AtomicLong();
        Optional<SignIn> signIn = database.write(session -> {
            ended.set(0);
            Row row = row(session, id);
            if (row == null || row.revoked() != null) {
                return Optional.empty();
            }
            if (row.codeUsed() != null) {
                ended.set(revoke(session, id, now));
                return Optional.empty();
            }
            boolean good = row.expires().isAfter(now)
                    && row.client().equals(client(client))
                    && row.redirect().equals(redirect)
                    && isOf(verifier, row.challenge());
            session.update(
                    "UPDATE trust_sign_in SET code_used_ms = ?, turns = 1, expires_ms = ?, revoked_ms = ? WHERE sign_in_id = ?",
                    now,
                    good ? now.plus(LIFE) : row.expires(),
                    good ? null : now,
                    id);
            return good ? Optional.of(row.signIn()) : Optional.empty();
        });
        epochs.barrier(Epoch.SIGN_INS, ended.get());
        return signIn.map(known -> new Issued(known, refreshToken(id, 1)));
    }

    /** Takes a refresh token for others; empty if it is not good. */
    public Optional<Issued> refresh(String token, Clients.Client client) {
        int dot = token.indexOf('.');
        int next = token.indexOf('.', dot + 1);
        String id = dot < 0 || next < 0 ? null : token.substring(0, dot);
        if (id == null || opened(token, refreshTokens) == null) {
            return Optional.empty();
        }
        int turn = Integer.parseInt(token.substring(dot + 1, next));
        Instant now = now();
        var ended = new AtomicLong();
        Optional<Issued> issued = database.write(session -> {
            ended.set(0);
            Row row = row(session, id);
            if (row == null
                    || row.revoked() != null
                    || !row.expires().isAfter(now)
                    || !row.client().equals(client(client))) {
                return Optional.empty();
            }
            if (turn != row.turns()) {
                boolean repeated = row.refreshed() != null
                        && row.refreshed().plus(REPETITION).isAfter(now);
                if (!repeated) {
                    ended.set(revoke(session, id, now));
                }
                return Optional.empty();
            }
            session.update(
                    "UPDATE trust_sign_in SET turns = ?, refreshed_ms = ?, expires_ms = ? WHERE sign_in_id = ?",
                    turn + 1,
                    now,
                    now.plus(LIFE),
                    id);
            return Optional.of(new Issued(row.signIn(), refreshToken(id, turn + 1)));
        });
        epochs.barrier(Epoch.SIGN_INS, ended.get());
        return issued;
    }

    /** Whether a sign-in was ended because its code or a token came again. */
    public boolean isRevoked(String id) {
        return revoked.contains(id);
    }

    /** Ends a sign-in, and returns the number of the change. */
    private long revoke(DatabaseSession session, String id, Instant now) throws SQLException {
        session.update("UPDATE trust_sign_in SET revoked_ms = ? WHERE sign_in_id = ?", now, id);
        revoked.add(id);
        return epochs.bump(session, Epoch.SIGN_INS);
    }

    private static @Nullable Row row(DatabaseSession session, String id) throws SQLException {
        return session.first(SignIns::row, "SELECT " + COLUMNS + " FROM trust_sign_in WHERE sign_in_id = ?", id)
                .orElse(null);
    }

    private static Row row(ResultSet row) throws SQLException {
        String scopes = DatabaseSession.text(row, 8);
        var user = new User(DatabaseSession.text(row, 2), DatabaseSession.text(row, 3), DatabaseSession.text(row, 4));
        return new Row(
                new SignIn(
                        DatabaseSession.text(row, 1),
                        user,
                        scopes.isEmpty() ? Set.of() : Set.of(scopes.split(" ", -1)),
                        DatabaseSession.text(row, 9)),
                DatabaseSession.text(row, 5),
                DatabaseSession.text(row, 6),
                DatabaseSession.text(row, 7),
                DatabaseSession.time(row, 10),
                row.getInt(11),
                DatabaseSession.time(row, 12),
                requireNonNull(DatabaseSession.time(row, 13)),
                DatabaseSession.time(row, 14));
    }

    /** Ids of clients are long. */
    private static String client(Clients.Client client) {
        return HexFormat.of().formatHex(Sha256.of(client.id()));
    }

    /** The id at the begin of a text that ends with its seal; null if it does not. */
    private static @Nullable String opened(String text, Seal seal) {
        int end = text.lastIndexOf('.');
        return end > 0 && seal.fits(text.substring(0, end), text.substring(end + 1)) ? text.substring(0, end) : null;
    }

    private String refreshToken(String id, int turn) {
        String text = id + "." + turn;
        return text + "." + refreshTokens.of(text);
    }

    /** Source: RFC 7636, section 4.6. */
    private static boolean isOf(String verifier, String challenge) {
        String made = Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(verifier));
        return MessageDigest.isEqual(made.getBytes(UTF_8), challenge.getBytes(UTF_8));
    }

    /** The time with the precision of the database. */
    private Instant now() {
        return Instant.ofEpochMilli(clock.millis());
    }
}
