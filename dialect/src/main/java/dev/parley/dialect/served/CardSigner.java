package dev.parley.dialect.served;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Signs cards. Safe for any thread. */
@FunctionalInterface
public interface CardSigner {
    /** Returns a detached JWS over a payload. */
    AgentCard.Signature sign(byte[] payload);

    /**
     * Returns a card with a signature over each of its {@linkplain CardPayload payloads}, besides those that it has. One
     * that was made with the same protected header is replaced.
     *
     * @throws A2AException if it is not a card, or has no canonical form
     */
    default byte[] signed(byte[] card) {
        CardPayload payload = CardPayload.of(card);
        var made = new ArrayList<AgentCard.Signature>(List.of(sign(payload.whole())));
        if (!Arrays.equals(payload.whole(), payload.found())) {
            made.add(sign(payload.found()));
        }
        Map<?, ?> members = JsonText.read(card, Codecs.STRUCT);
        var all = new ArrayList<@Nullable Object>();
        if (members.get(CardPayload.SIGNATURES) instanceof List<?> others) {
            others.stream().filter(other -> !isByOneOf(made, other)).forEach(all::add);
        }
        all.addAll(made);
        Map<String, @Nullable Object> signed = CardPayload.withoutSignatures(members);
        signed.put(CardPayload.SIGNATURES, all);
        return JsonText.write(Codecs.FREE, signed);
    }

    private static boolean isByOneOf(List<AgentCard.Signature> made, @Nullable Object signature) {
        return signature instanceof Map<?, ?> members
                && made.stream().anyMatch(one -> one.protectedHeader().equals(members.get("protected")));
    }
}
