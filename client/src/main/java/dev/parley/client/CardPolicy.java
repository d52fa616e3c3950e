package dev.parley.client;

/** What a client does with a card that its {@link dev.parley.protocol.CardVerifier} does not find verified. */
public enum CardPolicy {
    /** It says so in the log, and uses the card. */
    WARN,
    /** It does not use the card: {@link ClientException.Problem#CARD_NOT_VERIFIED}. */
    REQUIRE
}
