package dev.parley.registry.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AException;
import dev.parley.registry.Entry;
import dev.parley.registry.document.CardReader;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.provider.MethodSource;

/** Any body is refused with an answer that can be written, or is a card that the registry reads or refuses. */
final class CardBodyFuzzTest {
    static Stream<byte[]> examples() {
        return Stream.of(
                        "{'card_data':"
                                + Api.cardData(
                                        "a/b",
                                        "Name",
                                        ",'tags':['x'],'skills':[{'id':'1','name':'n','description':'d'}]")
                                + "}",
                        "{'card_data':"
                                + Api.cardData(
                                        "a/b", "Name", ",'capabilities':{'a2aVersion':'1','teeDetails':{'type':'x'}}")
                                + "}",
                        "{'card_data':"
                                + Api.cardData("a/b", "Name", "").replace("'none'", "'oauth2','tokenUrl':'https://x/'")
                                + "}",
                        "{'card_data':{'name':null}}",
                        "[null]")
                .map(text -> text.replace('\'', '"').getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void bodies(byte[] bytes) {
        Map<String, @Nullable Object> card;
        try {
            card = ValueRules.members(
                    ValueRules.body(bytes, AgentVault.NEW_CARD).get("card_data"));
        } catch (VaultException refusal) {
            Json.read(refusal.answer().body(), Map.class);
            return;
        }
        String problem = CardForm.problem(card).orElse(null);
        if (problem != null) {
            Json.read(VaultException.of(422, problem).answer().body(), Map.class);
            return;
        }
        try {
            CardReader.read(Entry.AGENT_CARD, Json.write(card), null, null, Map.of());
        } catch (A2AException refused) {
            Json.read(
                    VaultException.of(422, String.valueOf(refused.getMessage()))
                            .answer()
                            .body(),
                    Map.class);
        }
    }
}
