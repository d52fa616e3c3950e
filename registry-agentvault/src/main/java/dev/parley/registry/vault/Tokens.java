package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.protocol.support.Hmac;
import java.security.SecureRandom;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Date;
import java.util.HexFormat;
import java.util.Optional;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Secrets of accounts: JWTs of logins, keys, recovery keys and the tokens of verification mails. Safe for any thread.
 *
 * @param key of the hub, for this purpose only
 */
record Tokens(SecretKeySpec key, InstantSource clock) {
    static final String KEY_PREFIX = "avreg_";

    private static final Duration LOGIN = Duration.ofMinutes(30);
    private static final Duration RECOVERY = Duration.ofMinutes(5);
    private static final String PURPOSE = "purpose";
    private static final String SET_PASSWORD = "password-set";
    private static final String PASSWORD = "pwd";
    private static final String RECOVERY_KEY = "rk";
    private static final int SECRET_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * A valid token.
     *
     * @param password time of the password with which it was made; a later one ends it
     * @param recoveryKey number of the recovery key that it replaces; null for a login
     */
    record Login(long developer, long password, @Nullable Integer recoveryKey) {}

    /** A token of a login or, with a recovery key, one that sets a password. */
    String issue(Login login) {
        Duration life = login.recoveryKey() == null ? LOGIN : RECOVERY;
        var claims = new JWTClaimsSet.Builder()
                .subject(Long.toString(login.developer()))
                .claim(PASSWORD, login.password())
                .expirationTime(Date.from(clock.instant().plus(life)));
        if (login.recoveryKey() != null) {
            claims.claim(PURPOSE, SET_PASSWORD).claim(RECOVERY_KEY, login.recoveryKey());
        }
        try {
            var token = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), claims.build());
            token.sign(new MACSigner(key.getEncoded()));
            return token.serialize();
        } catch (JOSEException impossible) {
            throw new IllegalStateException("a token could not be signed", impossible);
        }
    }

    /** Reads a token of this hub that has not expired. */
    Optional<Login> read(String text) {
        try {
            SignedJWT token = SignedJWT.parse(text);
            if (!token.getHeader().getAlgorithm().equals(JWSAlgorithm.HS256)
                    || !token.verify(new MACVerifier(key.getEncoded()))) {
                return Optional.empty();
            }
            JWTClaimsSet claims = token.getJWTClaimsSet();
            Date end = claims.getExpirationTime();
            Long password = claims.getLongClaim(PASSWORD);
            if (end == null || password == null || !end.toInstant().isAfter(clock.instant())) {
                return Optional.empty();
            }
            Integer recovery =
                    SET_PASSWORD.equals(claims.getStringClaim(PURPOSE)) ? claims.getIntegerClaim(RECOVERY_KEY) : null;
            return Optional.of(new Login(Long.parseLong(claims.getSubject()), password, recovery));
        } catch (ParseException | JOSEException | IllegalArgumentException foreign) {
            return Optional.empty();
        }
    }

    static String newKey() {
        return KEY_PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes(SECRET_BYTES));
    }

    static String newRecoveryKey() {
        return "avrec-" + HexFormat.of().formatHex(bytes(4)) + "-"
                + HexFormat.of().formatHex(bytes(4)) + "-" + HexFormat.of().formatHex(bytes(4));
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    /** The token of a verification mail, which is not stored: it follows from the account and its registration. */
    String verification(long developer, String email, Instant expires) {
        byte[] text = ("verify\n" + developer + "\n" + email + "\n" + expires.toEpochMilli()).getBytes(UTF_8);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(Hmac.of(key, text));
    }
}
