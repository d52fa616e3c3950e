package dev.parley.protocol;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * Verifies the signatures of a card against trusted keys. Safe for any thread.
 *
 * <p>Source: A2A specification 1.0, section 8.4.3.
 */
@FunctionalInterface
public interface CardVerifier {
    /** Judges a card, exactly as it was received. Never throws: what is no card is no good card. */
    Verdict verify(byte[] card);

    /**
     * Judges a card that was found at a host, for which not every key may be trusted.
     *
     * @param host in lower case; null if the card came from elsewhere, such as a file
     */
    default Verdict verify(byte[] card, @Nullable String host) {
        return verify(card);
    }

    /** Outcome of a verification. */
    enum Outcome {
        /** A trusted key has signed this card. */
        VERIFIED,
        /** It has no signature. */
        UNSIGNED,
        /** No signature is by a key that is trusted, and still good, in a way that is accepted. */
        UNVERIFIABLE,
        /** A trusted key has signed another card than this. */
        TAMPERED
    }

    /**
     * An outcome and how it came about.
     *
     * @param keyId the key that decided; null if none did
     * @param reason for people; may repeat what the card says
     */
    record Verdict(Outcome outcome, @Nullable String keyId, String reason) {
        public Verdict {
            requireNonNull(outcome, "outcome");
            requireNonNull(reason, "reason");
        }

        public boolean isVerified() {
            return outcome == Outcome.VERIFIED;
        }
    }
}
