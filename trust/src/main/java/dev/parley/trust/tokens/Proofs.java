package dev.parley.trust.tokens;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.FairPool;
import dev.parley.trust.shared.SharedProofs;
import java.net.URI;
import java.nio.ByteBuffer;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Proofs that a caller has the key to which its token is bound. Each can be shown once. Safe for any thread.
 *
 * <p>Source: RFC 9449, sections 4.3, 7.1 and 11.1.
 */
public final class Proofs {
    /** The header of proofs. */
    public static final String HEADER = "DPoP";

    private static final int QUICK_RSA_BITS = 2_048;
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration LATER = Duration.ofSeconds(1);

    /** Threads for signatures that take longer than a millisecond, shared by the addresses of clients. */
    private static final FairPool SLOW =
            new FairPool("signatures", Math.max(2, Runtime.getRuntime().availableProcessors()), 64);

    public static final List<String> ALGORITHMS = List.of("ES256", "ES384", "RS256", "PS256");

    static final Duration LIFE = Duration.ofSeconds(60);

    /** About 40 MB, and as many calls a minute. */
    private static final int MOST_KEPT = 500_000;

    private static final int LONGEST_ID = 200;
    private static final JOSEObjectType TYPE = new JOSEObjectType("dpop+jwt");

    private final InstantSource clock;
    private final ReentrantLock lock = new ReentrantLock();
    /** Seen proofs by the second of their creation, which a replay has too. */
    private final NavigableMap<Long, Set<Id>> seen = new TreeMap<>();

    private int kept;
    private final @Nullable SharedProofs shared;

    /** Key of a seen proof: the beginning of the hash of its key and id, to save memory. */
    private record Id(long first, long second) {}

    /** @param shared the proofs that other hubs have taken, too; null for a hub that has its database alone */
    public Proofs(InstantSource clock, @Nullable SharedProofs shared) {
        this.clock = clock;
        this.shared = shared;
    }

    /**
     * True if the one key that a token is bound to has signed the proof that comes with it, which is new.
     *
     * @param url of the call, as the caller sees it
     * @param thumbprint of the key
     */
    public boolean isHeld(RequestHead arrival, String url, String token, String thumbprint) {
        return holder(arrival, url, token, thumbprint) != null;
    }

    /**
     * Returns the thumbprint of the key in the proof of a request for a token; null without a valid proof.
     *
     * @param url of the call, as the caller sees it
     */
    public @Nullable String holder(RequestHead arrival, String url) {
        return holder(arrival, url, null, null);
    }

    private @Nullable String holder(
            RequestHead arrival, String url, @Nullable String token, @Nullable String expected) {
        String header = arrival.header(HEADER);
        try {
            return header == null || header.contains(",") ? null : holder(header, arrival, url, token, expected);
        } catch (ParseException | JOSEException | IllegalArgumentException notGood) {
            return null;
        }
    }

    private @Nullable String holder(
            String header, RequestHead arrival, String url, @Nullable String token, @Nullable String expected)
            throws ParseException, JOSEException {
        SignedJWT proof = SignedJWT.parse(header);
        JWK key = proof.getHeader().getJWK();
        if (!TYPE.equals(proof.getHeader().getType())
                || !ALGORITHMS.contains(proof.getHeader().getAlgorithm().getName())
                || key == null
                || key.isPrivate()) {
            return null;
        }
        String thumbprint = key.computeThumbprint().toString();
        if (expected != null && !expected.equals(thumbprint) || !isSigned(proof, key, arrival.address())) {
            return null;
        }
        JWTClaimsSet claims = proof.getJWTClaimsSet();
        String id = claims.getJWTID();
        boolean fits = arrival.method().equals(claims.getStringClaim("htm"))
                && claims.getStringClaim("htu") != null
                && same(url, claims.getStringClaim("htu"))
                && (token == null || hash(token).equals(claims.getStringClaim("ath")));
        if (!fits || id == null || id.isEmpty() || id.length() > LONGEST_ID || claims.getIssueTime() == null) {
            return null;
        }
        Instant made = claims.getIssueTime().toInstant();
        Duration age = Duration.between(made, clock.instant()).abs();
        return age.compareTo(LIFE) <= 0 && isNew(made.getEpochSecond(), thumbprint + " " + id) ? thumbprint : null;
    }

    /** The caller chooses the key, and how long it takes: 0.05 ms for RSA with 2,048 bits, 6 ms for P-384. */
    private static boolean isSigned(SignedJWT proof, JWK key, String address) throws JOSEException {
        JWSVerifier verifier = verifier(key);
        boolean isQuick = key instanceof ECKey ec ? ec.getCurve().equals(Curve.P_256) : key.size() <= QUICK_RSA_BITS;
        if (isQuick) {
            return proof.verify(verifier);
        }
        try {
            return SLOW.call(address, PATIENCE, () -> {
                try {
                    return proof.verify(verifier);
                } catch (JOSEException notGood) {
                    return false;
                }
            });
        } catch (RejectedExecutionException | TimeoutException busy) {
            throw A2AException.unavailable("Too many signatures to check", LATER);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The request was given up", LATER);
        }
    }

    private static JWSVerifier verifier(JWK key) throws JOSEException {
        return switch (key) {
            case ECKey ec -> new ECDSAVerifier(ec);
            case RSAKey rsa -> new RSASSAVerifier(rsa);
            default -> throw new JOSEException("unknown kind of key");
        };
    }

    private static String hash(String token) {
        return Base64URL.encode(Secrets.hash(token)).toString();
    }

    /** Without query and fragment, and with the host in lower case. */
    private static boolean same(String one, String other) {
        return normal(one).equals(normal(other));
    }

    private static String normal(String url) {
        URI uri = URI.create(url);
        String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
        int port = uri.getPort() < 0 ? (scheme.equals("https") ? 443 : 80) : uri.getPort();
        String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        return scheme + "://" + String.valueOf(uri.getHost()).toLowerCase(Locale.ROOT) + ":" + port + path;
    }

    private boolean isNew(long made, String proof) {
        byte[] hash = Secrets.hash(proof);
        ByteBuffer beginning = ByteBuffer.wrap(hash);
        return isNew(made, new Id(beginning.getLong(), beginning.getLong())) && (shared == null || shared.take(hash));
    }

    /** Proofs older than their longest life need not be remembered. */
    private boolean isNew(long made, Id id) {
        long oldest = clock.instant().minus(LIFE).getEpochSecond();
        lock.lock();
        try {
            while (!seen.isEmpty() && seen.firstKey() < oldest) {
                kept -= seen.pollFirstEntry().getValue().size();
            }
            if (kept == MOST_KEPT
                    || !seen.computeIfAbsent(made, second -> new HashSet<>()).add(id)) {
                return false;
            }
            kept++;
            return true;
        } finally {
            lock.unlock();
        }
    }
}
