package dev.parley.trust.cards;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import dev.parley.dialect.Json;
import dev.parley.dialect.served.CardSigner;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.support.OwnersOnly;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a signer of cards: the first one signs, the others are former and future ones. To change the key, publish the new
 * one after the old one, then swap them, then remove the old one. Safe for any thread.
 *
 * <p>Source: A2A specification 1.0, section 8.4.2; RFC 7515; RFC 7517.
 */
public final class CardKeys {
    /** Path of the published keys below the address of a server. */
    public static final String PATH = "/.well-known/jwks.json";

    /** Algorithms of card signatures. */
    public enum Algorithm {
        ES256,
        EDDSA
    }

    private final List<CardKey> keys;

    private CardKeys(List<CardKey> keys) {
        this.keys = keys;
    }

    /**
     * Reads keys, in their order: JWKs, JWK sets, or private keys in PEM. The first one has to be private, EC on P-256 or
     * Ed25519, and good now.
     *
     * @throws UncheckedIOException if one of the files cannot be read
     * @throws IllegalArgumentException if they hold anything else, or two keys of one id
     */
    public static CardKeys read(List<Path> files) {
        var keys = new ArrayList<CardKey>();
        files.forEach(file -> keys.addAll(KeyFile.read(file)));
        return of(keys, InstantSource.system());
    }

    static CardKeys of(List<CardKey> keys, InstantSource clock) {
        if (keys.isEmpty()) {
            throw new IllegalArgumentException("card keys: none (expected: at least one)");
        }
        CardKey first = keys.getFirst();
        String fault = first.canSign() ? first.fault(clock.instant()) : "public";
        if (fault != null) {
            throw new IllegalArgumentException("card key " + first.id() + ": " + fault
                    + " (expected: a private key that is good now, to sign with)");
        }
        var ids = new HashSet<String>();
        keys.forEach(key -> {
            if (!ids.add(key.id())) {
                throw new IllegalArgumentException("card key \"" + key.id() + "\": duplicate id");
            }
        });
        return new CardKeys(List.copyOf(keys));
    }

    /**
     * Makes a private key in a new file, as a JWK that only its owner can read.
     *
     * @param expires end of its validity; null for none
     * @return its id
     * @throws UncheckedIOException if it cannot be written, or is there already
     */
    public static String create(Path file, Algorithm algorithm, @Nullable Instant expires) {
        Map<String, Object> key = created(algorithm);
        key.put("iat", Instant.now().getEpochSecond());
        if (expires != null) {
            key.put("exp", expires.getEpochSecond());
        }
        try {
            OwnersOnly.create(file, Json.write(key));
        } catch (FileAlreadyExistsException there) {
            throw new UncheckedIOException(file + ": exists already; keys are not overwritten", there);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
        return String.valueOf(key.get("kid"));
    }

    private static Map<String, Object> created(Algorithm algorithm) {
        try {
            JWK key = switch (algorithm) {
                case ES256 -> new ECKeyGenerator(Curve.P_256).generate();
                case EDDSA -> {
                    KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
                    yield new OctetKeyPair.Builder(Curve.Ed25519, KeyFile.encodedEnd(pair.getPublic()))
                            .d(KeyFile.encodedEnd(pair.getPrivate()))
                            .build();
                }
            };
            var members = new LinkedHashMap<String, Object>(key.toJSONObject());
            members.put("kid", key.computeThumbprint().toString());
            members.put("use", KeyUse.SIGNATURE.identifier());
            members.put("alg", algorithm == Algorithm.ES256 ? JwsAlgorithm.ES256.label() : JwsAlgorithm.EDDSA.label());
            return members;
        } catch (JOSEException | NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has EC and Ed25519", e);
        }
    }

    /** The id of the key that signs. */
    public String id() {
        return keys.getFirst().id();
    }

    /** Returns the public keys as a JWK set, for clients that verify cards. */
    public byte[] published() {
        return Json.write(new JWKSet(keys.stream().map(CardKey::published).toList()).toJSONObject());
    }

    /**
     * Signs by the first key.
     *
     * @param jku address at which the keys are published; null to leave it out
     */
    public CardSigner signer(@Nullable String jku) {
        CardKey key = keys.getFirst();
        String encoded = header(key, "JOSE", key.id(), jku);
        return payload -> new AgentCard.Signature(encoded, key.sign(encoded, payload), Map.of());
    }

    /**
     * Signs a payload by the first key.
     *
     * @return a JWS in the compact form with a detached payload. Source: RFC 7515, appendix F
     */
    public String sign(byte[] payload) {
        return sign(payload, "JOSE", id());
    }

    /**
     * Signs a payload by the first key, with a header of its own.
     *
     * @param type {@code typ} of the header
     * @param keyId {@code kid} of the header
     * @return a JWS in the compact form with a detached payload
     */
    public String sign(byte[] payload, String type, String keyId) {
        CardKey key = keys.getFirst();
        String encoded = header(key, type, keyId, null);
        return encoded + ".." + key.sign(encoded, payload);
    }

    private static String header(CardKey key, String type, String keyId, @Nullable String jku) {
        var header = new LinkedHashMap<String, Object>();
        header.put("alg", key.algorithm().label());
        header.put("kid", keyId);
        header.put("typ", type);
        if (jku != null) {
            header.put("jku", jku);
        }
        return Base64.getUrlEncoder().withoutPadding().encodeToString(Json.write(header));
    }
}
