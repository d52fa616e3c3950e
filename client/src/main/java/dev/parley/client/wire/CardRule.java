package dev.parley.client.wire;

import dev.parley.client.spi.CardPolicy;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.CardVerifier;
import dev.parley.protocol.CardVerifier.Verdict;
import java.net.URI;
import java.util.Locale;

/** Decides which cards a client uses. */
public record CardRule(CardVerifier verifier, CardPolicy policy) {
    private static final System.Logger LOG = System.getLogger("dev.parley.client");

    /** Uses every card. */
    public static final CardRule NONE = new CardRule(
            card -> new Verdict(CardVerifier.Outcome.VERIFIED, null, "signatures are not verified"), CardPolicy.WARN);

    /**
     * Verifies a card.
     *
     * @param card as it was received
     * @param place the URL where from
     * @throws ClientException if it must not be used
     */
    public void check(byte[] card, String place) {
        String host = URI.create(place).getHost();
        Verdict verdict = verifier.verify(card, host == null ? null : host.toLowerCase(Locale.ROOT));
        if (verdict.isVerified()) {
            return;
        }
        String message = place + ": the card is " + verdict.outcome() + ": " + verdict.reason();
        if (policy == CardPolicy.REQUIRE) {
            throw new ClientException(Problem.CARD_NOT_VERIFIED, message);
        }
        LOG.log(System.Logger.Level.WARNING, message);
    }

    @Override
    public String toString() {
        return equals(NONE) ? "not verified" : policy.toString();
    }
}
