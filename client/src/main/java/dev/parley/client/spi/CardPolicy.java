package dev.parley.client.spi;

/** Policy for cards that the {@link dev.parley.protocol.CardVerifier} does not verify. */
public enum CardPolicy {
    /** It says so in the log, and uses the card. */
    WARN,
    /** It does not use the card: {@link ClientException.Problem#CARD_NOT_VERIFIED}. */
    REQUIRE
}
