package dev.parley.trust.cards;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.RSAKey;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.text.ParseException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A key that signs cards, or the public half of one. Ed25519 goes by way of the JDK, for the library has it only with
 * another library besides.
 */
final class CardKey {
    private static final int LEAST_RSA_BITS = 2048;
    private static final String ED25519 = "Ed25519";

    /** DER prefix of the 32 bytes of a key. Source: RFC 8410, section 7 and 4. */
    private static final byte[] ED25519_PRIVATE = HexFormat.of().parseHex("302e020100300506032b657004220420");

    private static final byte[] ED25519_PUBLIC = HexFormat.of().parseHex("302a300506032b6570032100");

    private final JWK jwk;
    private final PublicKey publicKey;
    private final @Nullable PrivateKey privateKey;
    private final List<String> hosts;

    /** @throws IllegalArgumentException if it is not a key for signatures that are accepted */
    CardKey(JWK jwk) {
        this(jwk, List.of());
    }

    /**
     * @param hosts in lower case, to which the trust is limited; none for all
     * @throws IllegalArgumentException if it is not a key for signatures that are accepted
     */
    CardKey(JWK jwk, List<String> hosts) {
        this.hosts = List.copyOf(hosts);
        try {
            this.jwk = jwk.getKeyID() == null ? named(jwk) : jwk;
            if (jwk.getKeyUse() != null && !jwk.getKeyUse().equals(KeyUse.SIGNATURE)) {
                throw wrong("use " + jwk.getKeyUse(), "sig");
            }
            boolean isPrivate = jwk.isPrivate();
            switch (jwk) {
                case ECKey ec
                when JwsAlgorithm.ES256.suits(ec) -> {
                    publicKey = ec.toECPublicKey();
                    privateKey = isPrivate ? ec.toECPrivateKey() : null;
                }
                case ECKey ec
                when JwsAlgorithm.ES384.suits(ec) -> {
                    publicKey = ec.toECPublicKey();
                    privateKey = null; // verifies only
                }
                case OctetKeyPair pair
                when JwsAlgorithm.EDDSA.suits(pair) -> {
                    KeyFactory factory = KeyFactory.getInstance(ED25519);
                    publicKey =
                            factory.generatePublic(new X509EncodedKeySpec(joined(ED25519_PUBLIC, pair.getDecodedX())));
                    privateKey = isPrivate
                            ? factory.generatePrivate(
                                    new PKCS8EncodedKeySpec(joined(ED25519_PRIVATE, pair.getDecodedD())))
                            : null;
                }
                case RSAKey rsa
                when JwsAlgorithm.RS256.suits(rsa)
                        || JwsAlgorithm.PS256.suits(rsa)
                        || JwsAlgorithm.PS384.suits(rsa) -> {
                    if (rsa.size() < LEAST_RSA_BITS) {
                        throw wrong(rsa.size() + " bits", ">= " + LEAST_RSA_BITS);
                    }
                    publicKey = rsa.toRSAPublicKey();
                    privateKey = null; // verifies only
                }
                default ->
                    throw wrong(
                            jwk.getKeyType() + (jwk.getAlgorithm() == null ? "" : " for " + jwk.getAlgorithm()),
                            "EC on P-256 or P-384, OKP on Ed25519, or RSA for RS256, PS256 or PS384");
            }
        } catch (JOSEException | ParseException | GeneralSecurityException malformed) {
            throw new IllegalArgumentException(
                    "key: " + malformed.getMessage() + " (expected: a valid key)", malformed);
        }
    }

    /** A key without a name is named by its thumbprint. Source: RFC 7638. */
    private static JWK named(JWK key) throws JOSEException, ParseException {
        Map<String, Object> members = key.toJSONObject();
        members.put("kid", key.computeThumbprint().toString());
        return JWK.parse(members);
    }

    private static IllegalArgumentException wrong(String found, String expected) {
        return new IllegalArgumentException("key: " + found + " (expected: " + expected + ")");
    }

    static byte[] joined(byte[] before, byte[] key) {
        byte[] whole = Arrays.copyOf(before, before.length + key.length);
        System.arraycopy(key, 0, whole, before.length, key.length);
        return whole;
    }

    String id() {
        return jwk.getKeyID();
    }

    List<String> hosts() {
        return hosts;
    }

    /** Whether it is trusted for cards found at a host; null for those of which that is not known. */
    boolean isFor(@Nullable String host) {
        return hosts.isEmpty() || host != null && hosts.contains(host);
    }

    /** The public half, as a key set has it. */
    JWK published() {
        return jwk.toPublicJWK();
    }

    boolean canSign() {
        return privateKey != null;
    }

    boolean suits(JwsAlgorithm algorithm) {
        return algorithm.suits(jwk);
    }

    /** The algorithm by which it signs. */
    JwsAlgorithm algorithm() {
        return jwk instanceof ECKey ? JwsAlgorithm.ES256 : JwsAlgorithm.EDDSA;
    }

    /** Says why it must not be used at a time; null if it may. */
    @Nullable
    String fault(Instant now) {
        if (jwk.getKeyRevocation() != null) {
            return "revoked";
        }
        if (jwk.getExpirationTime() != null
                && !now.isBefore(jwk.getExpirationTime().toInstant())) {
            return "expired since " + jwk.getExpirationTime().toInstant();
        }
        if (jwk.getNotBeforeTime() != null
                && now.isBefore(jwk.getNotBeforeTime().toInstant())) {
            return "not good before " + jwk.getNotBeforeTime().toInstant();
        }
        return null;
    }

    /** Returns the signature over a header and a payload, in base64url. */
    String sign(String header, byte[] payload) {
        try {
            Signature signature = algorithm().signature();
            signature.initSign(privateKey);
            signature.update(input(header, payload));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(signature.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("key " + id() + " cannot sign", e);
        }
    }

    boolean hasSigned(JwsAlgorithm algorithm, String header, byte[] payload, byte[] signed) {
        try {
            Signature signature = algorithm.signature();
            signature.initVerify(publicKey);
            signature.update(input(header, payload));
            return signature.verify(signed);
        } catch (SignatureException malformed) {
            return false;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("key " + id() + " cannot verify", e);
        }
    }

    /** Source: RFC 7515, section 5.1. */
    private static byte[] input(String header, byte[] payload) {
        String encoded = Base64.getUrlEncoder().withoutPadding().encodeToString(payload);
        return (header + '.' + encoded).getBytes(US_ASCII);
    }
}
