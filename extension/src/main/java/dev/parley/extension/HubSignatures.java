package dev.parley.extension;

import dev.parley.protocol.CardVerifier.Verdict;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Signatures of payloads: JWS in compact form without the payload, {@code header..signature}. Safe for any thread.
 *
 * <p>Source: RFC 7515, appendix F.
 */
public interface HubSignatures {
    /** Signs by the key that signs the cards of the hub, with its id as {@code kid}; empty if the hub signs no cards. */
    Optional<String> sign(byte[] payload);

    /**
     * Signs by the same key with another header.
     *
     * @param type {@code typ} of the header
     * @param keyId {@code kid} of the header, such as one with an identity in front
     * @return empty if the hub signs no cards
     */
    default Optional<String> sign(byte[] payload, String type, String keyId) {
        return Optional.empty();
    }

    /** The public keys of the hub as a JWK set, as it publishes them; empty if it signs no cards. */
    Optional<String> keys();

    /**
     * Verifies a signature by one of some keys. Addresses and keys in the signature are ignored, and nothing is fetched; ES256, ES384,
     * EdDSA, RS256, PS256 and PS384 are accepted, for keys that have not expired.
     *
     * @param keys a JWK, a JWK set or a public key in PEM, such as {@link #keys}
     * @param host in lower case, for which the signer speaks, as keys may be limited to hosts; null if that is unknown
     * @throws IllegalArgumentException if {@code keys} holds anything else
     */
    Verdict verify(byte[] payload, String signature, String keys, @Nullable String host);
}
