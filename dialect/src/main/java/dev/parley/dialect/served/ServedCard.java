package dev.parley.dialect.served;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.legacy.LegacyCard;
import dev.parley.dialect.v1.V1Card;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.json.JsonText;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The public card of an agent in the forms that its readers know, each written, and signed, once. */
public final class ServedCard {
    private final AgentCard card;
    private final byte[] v1;
    private final byte[] v03;
    private final byte[] beforeV03;
    private final byte[] union;

    private ServedCard(AgentCard card, byte[] document) {
        this.card = card;
        this.v1 = document;
        this.v03 = document;
        this.beforeV03 = document;
        this.union = document;
    }

    private ServedCard(AgentCard card, @Nullable CardSigner signer) {
        UnaryOperator<byte[]> signed = signer == null ? written -> written : signer::signed;
        this.v1 = signed.apply(JsonText.write(V1Card.CARD, card));
        this.v03 = signed.apply(LegacyCard.v03(card));
        this.beforeV03 = LegacyCard.beforeV03(card); // has no place for signatures
        this.union = signed.apply(LegacyCard.union(card));
        this.card = signer == null ? card : JsonText.read(v1, V1Card.CARD);
    }

    /** A card as it is. */
    public static ServedCard unsigned(AgentCard card) {
        return new ServedCard(card, (CardSigner) null);
    }

    /** A card with signatures of its own for each form that has a place for them. */
    public static ServedCard signed(AgentCard card, CardSigner signer) {
        return new ServedCard(card, requireNonNull(signer, "signer"));
    }

    /**
     * The document of another server for all readers, byte for byte, with its signatures.
     *
     * @param card of the agent at this server
     */
    public static ServedCard verbatim(AgentCard card, byte[] document) {
        return new ServedCard(card, document.clone());
    }

    public AgentCard card() {
        return card;
    }

    public byte[] v1() {
        return v1;
    }

    public byte[] v03() {
        return v03;
    }

    public byte[] beforeV03() {
        return beforeV03;
    }

    /** For readers that do not state their version. */
    public byte[] union() {
        return union;
    }
}
