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
    /** Verifies a card, exactly as it was received. Never throws: bytes that are not a card are {@link Outcome#UNVERIFIABLE}. */
    Verdict verify(byte[] card);

    /**
     * Verifies a card that was received from a host; a key may be trusted for some hosts only.
     *
     * @param host in lower case; null if the card came from elsewhere, such as a file
     */
    default Verdict verify(byte[] card, @Nullable String host) {
        return verify(card);
    }

    /** Outcome of a verification. */
    enum Outcome {
        /** A signature of this card is by a trusted key. */
        VERIFIED,
        /** The card has no signature. */
        UNSIGNED,
        /** No signature is by a trusted key that has not expired, with an accepted algorithm. */
        UNVERIFIABLE,
        /** A signature by a trusted key does not match the card. */
        TAMPERED
    }

    /**
     * An outcome and its reason.
     *
     * @param keyId key of the decisive signature; null for none
     * @param reason for people; may quote the card
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
