package dev.parley.trust.cards;

import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDHDecrypter;
import com.nimbusds.jose.crypto.ECDHEncrypter;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jose.util.JSONObjectUtils;
import dev.parley.dialect.Json;
import dev.parley.protocol.support.OwnersOnly;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a receiver of encrypted content: private ones decrypt, the first one encrypts, and its public half suffices for that.
 * Keys are EC on P-256, and content is a compact JWE with ECDH-ES and A256GCM. Sender and receiver are part of the key agreement, so
 * that content that a third party passes on as its own cannot be decrypted. Safe for any thread.
 *
 * <p>Source: RFC 7516, section 3.1; RFC 7518, sections 4.6 and 5.3.
 */
public final class ContentKeys {
    private final List<ECKey> keys;

    private ContentKeys(List<ECKey> keys) {
        this.keys = List.copyOf(keys);
    }

    /**
     * Reads keys: JWKs or JWK sets. Of a set, keys of other uses and kinds are skipped.
     *
     * @throws UncheckedIOException if the file cannot be read
     * @throws IllegalArgumentException naming the file, if it holds no key for encryption
     */
    public static ContentKeys read(Path file) {
        try {
            return of(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Reads the text of such a file.
     *
     * @throws IllegalArgumentException if it holds no key for encryption
     */
    public static ContentKeys of(String text) {
        List<ECKey> keys;
        try {
            Map<String, Object> tree = JSONObjectUtils.parse(text);
            keys = JWKSet.parse(tree.containsKey("keys") ? tree : Map.of("keys", List.of(tree))).getKeys().stream()
                    .filter(ECKey.class::isInstance)
                    .map(ECKey.class::cast)
                    .filter(key -> Curve.P_256.equals(key.getCurve())
                            && KeyUse.ENCRYPTION.equals(key.getKeyUse())
                            && key.getKeyID() != null)
                    .toList();
        } catch (ParseException | RuntimeException malformed) { // the library throws both
            // Neither the message nor the cause: they may quote a secret.
            throw new IllegalArgumentException("no key (expected: a JWK or a JWK set)");
        }
        if (keys.isEmpty()) {
            throw new IllegalArgumentException(
                    "no key for encryption (expected: EC on P-256 with use \"enc\" and a kid)");
        }
        return new ContentKeys(keys);
    }

    /**
     * Makes a private key in a new file, as a JWK that only its owner can read.
     *
     * @return its id
     * @throws UncheckedIOException if it cannot be written, or is there already
     */
    public static String create(Path file) {
        try {
            ECKey key = new ECKeyGenerator(Curve.P_256)
                    .keyUse(KeyUse.ENCRYPTION)
                    .algorithm(JWEAlgorithm.ECDH_ES)
                    .keyIDFromThumbprint(true)
                    .generate();
            OwnersOnly.create(file, Json.write(key.toJSONObject()));
            return key.getKeyID();
        } catch (FileAlreadyExistsException there) {
            throw new UncheckedIOException(file + ": exists already; keys are not overwritten", there);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        } catch (JOSEException e) {
            throw new IllegalStateException("every Java platform has EC", e);
        }
    }

    /** Returns the public keys as a JWK set, for senders. */
    public byte[] published() {
        return Json.write(new JWKSet(keys.stream()
                        .map(ECKey::toPublicJWK)
                        .map(JWK.class::cast)
                        .toList())
                .toJSONObject());
    }

    /** Returns the first public key, as a JWK, for the sender of an answer. */
    public Map<String, @Nullable Object> publicKey() {
        return new LinkedHashMap<>(keys.getFirst().toPublicJWK().toJSONObject());
    }

    /**
     * Encrypts JSON by the first key.
     *
     * @param sender id of the sender, which the receiver has to know to decrypt
     * @param receiver id of the receiver
     */
    public String encrypt(byte[] content, String sender, String receiver) {
        ECKey key = keys.getFirst();
        JWEHeader header = new JWEHeader.Builder(JWEAlgorithm.ECDH_ES, EncryptionMethod.A256GCM)
                .keyID(key.getKeyID())
                .contentType("application/json")
                .agreementPartyUInfo(Base64URL.encode(sender))
                .agreementPartyVInfo(Base64URL.encode(receiver))
                .build();
        try {
            var jwe = new JWEObject(header, new Payload(content));
            jwe.encrypt(new ECDHEncrypter(key.toPublicJWK()));
            return jwe.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException("key " + key.getKeyID() + " cannot encrypt", e);
        }
    }

    /**
     * Decrypts content of a sender for a receiver.
     *
     * @throws IllegalArgumentException if it is no such JWE, was made for another key, sender or receiver, or was changed
     */
    public byte[] decrypt(String compact, String sender, String receiver) {
        JWEObject jwe = parsed(compact);
        JWEHeader header = jwe.getHeader();
        if (!JWEAlgorithm.ECDH_ES.equals(header.getAlgorithm())
                || !EncryptionMethod.A256GCM.equals(header.getEncryptionMethod())
                || header.getCompressionAlgorithm() != null) {
            throw refused("another algorithm", "ECDH-ES with A256GCM, not compressed");
        }
        if (!isOf(header.getAgreementPartyUInfo(), sender) || !isOf(header.getAgreementPartyVInfo(), receiver)) {
            throw refused("made for another sender or receiver", "apu \"" + sender + "\", apv \"" + receiver + '"');
        }
        ECKey key = keys.stream()
                .filter(ECKey::isPrivate)
                .filter(one -> one.getKeyID().equals(header.getKeyID()))
                .findFirst()
                .orElseThrow(() -> refused("made for another key", "kid of a key of the receiver"));
        try {
            jwe.decrypt(new ECDHDecrypter(key));
            return jwe.getPayload().toBytes();
        } catch (JOSEException | RuntimeException failed) {
            // Not the cause: what differs between failures helps only an attacker.
            throw refused("cannot be decrypted", "a JWE for the receiver, unchanged");
        }
    }

    private static JWEObject parsed(String compact) {
        try {
            return JWEObject.parse(compact);
        } catch (ParseException | RuntimeException malformed) { // the library throws both
            throw refused("malformed", "a compact JWE");
        }
    }

    /** Senders that do not know the convention leave the names out; a third party cannot take them out. */
    private static boolean isOf(@Nullable Base64URL info, String name) {
        return info == null || info.decodeToString().equals(name);
    }

    private static IllegalArgumentException refused(String problem, String expected) {
        return new IllegalArgumentException("encrypted content: " + problem + " (expected: " + expected + ")");
    }
}
