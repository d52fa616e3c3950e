package dev.parley.mesh.client;

import static java.util.Objects.requireNonNull;

import dev.parley.mesh.Envelope.Party;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import org.jspecify.annotations.Nullable;

/**
 * An agent that sends and receives messages, with its keys.
 *
 * @param endpoint address that takes its messages
 * @param signing signs its messages; null for none
 * @param decryption decrypts content for it; null for none
 * @param trust verifies messages of others; null to accept them unverified
 */
public record OneIdentity(
        String agentId,
        String endpoint,
        @Nullable CardKeys signing,
        @Nullable ContentKeys decryption,
        @Nullable CardTrust trust) {
    public OneIdentity {
        requireNonNull(agentId, "agentId");
        requireNonNull(endpoint, "endpoint");
    }

    /** An agent without keys. */
    public static OneIdentity of(String agentId, String endpoint) {
        return new OneIdentity(agentId, endpoint, null, null, null);
    }

    /** Signs all messages by the first of these keys. */
    public OneIdentity signing(CardKeys keys) {
        return new OneIdentity(agentId, endpoint, keys, decryption, trust);
    }

    /** Decrypts content by these keys. */
    public OneIdentity decrypting(ContentKeys keys) {
        return new OneIdentity(agentId, endpoint, signing, keys, trust);
    }

    /** Verifies signatures by these keys, and accepts only signed callbacks. */
    public OneIdentity trusting(CardTrust keys) {
        return new OneIdentity(agentId, endpoint, signing, decryption, keys);
    }

    Party party() {
        return Party.of(agentId, endpoint);
    }
}
