package dev.parley.dialect;

import static dev.parley.dialect.Wire.example;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.served.CardPayload;
import dev.parley.dialect.served.CardSigner;
import dev.parley.dialect.served.ServedCard;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Signature;
import dev.parley.protocol.json.CanonicalJson;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CardPayloadTest {
    private static final String CARD = """
        {"name":"Example Agent","description":"","supportedInterfaces":[{"url":"https://a.example/a2a",
         "protocolBinding":"JSONRPC","tenant":"","protocolVersion":"1.0"}],"version":"1","documentationUrl":"",
         "capabilities":{"streaming":false,"pushNotifications":false,"extensions":[]},
         "defaultInputModes":[],"defaultOutputModes":[],"skills":[],"signatures":[{"protected":"a","signature":"b"}]%s}\
        """;
    private static final String REST = "\"defaultInputModes\":[],\"defaultOutputModes\":[],\"description\":\"\","
            + "\"documentationUrl\":\"\",\"name\":\"Example Agent\"";

    @Test
    void defaultsGoUnlessTheyAreRequiredOrWereSet() {
        assertThat(whole(CARD.formatted("")))
                .isEqualTo("{\"capabilities\":{\"pushNotifications\":false,\"streaming\":false}," + REST
                        + ",\"skills\":[],\"supportedInterfaces\":[{\"protocolBinding\":\"JSONRPC\","
                        + "\"protocolVersion\":\"1.0\",\"url\":\"https://a.example/a2a\"}],\"version\":\"1\"}");
    }

    @Test
    void defaultsGoWhereverTheyStand() {
        String payload = whole(CARD.formatted("""
            ,"securityRequirements":[{"schemes":{}},{"schemes":{"key":{"list":[]}}}],"iconUrl":null,
             "securitySchemes":{"description":{"apiKeySecurityScheme":{"description":"","location":"header","name":""}},
              "flow":{"oauth2SecurityScheme":{"oauth2MetadataUrl":"","flows":{"clientCredentials":
                {"tokenUrl":"","refreshUrl":"","scopes":{}}}}},
              "old":{"oauth2SecurityScheme":{"flows":{"implicit":{"authorizationUrl":"","scopes":{}}}}},
              "code":{"oauth2SecurityScheme":{"flows":{"authorizationCode":
                {"authorizationUrl":"a","tokenUrl":"t","scopes":{"s":""},"pkceRequired":false}}}}}\
            """));

        assertThat(payload)
                .contains("\"securityRequirements\":[{},{\"schemes\":{\"key\":{}}}]")
                .contains("\"description\":{\"apiKeySecurityScheme\":{\"location\":\"header\",\"name\":\"\"}}")
                .contains("{\"clientCredentials\":{\"scopes\":{},\"tokenUrl\":\"\"}}")
                .contains("{\"implicit\":{}}")
                .contains("{\"authorizationUrl\":\"a\",\"scopes\":{\"s\":\"\"},\"tokenUrl\":\"t\"}")
                .doesNotContain("iconUrl");
    }

    @Test
    void whatIsFreeIsLeftAsItIs() {
        String free = "{\"a\":[],\"b\":{},\"c\":\"\",\"d\":null,\"e\":false,\"tenant\":\"\"}";
        String extension = "{\"description\":\"\",\"params\":" + free + ",\"required\":false,\"uri\":\"urn:x\"}";
        String card = CARD.formatted("").replace("\"extensions\":[]", "\"extensions\":[" + extension + "]");

        assertThat(whole(card)).contains("\"extensions\":[{\"params\":" + free + ",\"uri\":\"urn:x\"}]");
    }

    @Test
    void whatIsMeantForOlderReadersIsInOnePayloadAlone() {
        var payload = CardPayload.of(
                CARD.formatted(",\"url\":\"https://old.example\"").getBytes(UTF_8));

        assertThat(Wire.text(payload.whole())).contains("https://old.example");
        assertThat(payload.found())
                .isEqualTo(CardPayload.of(CARD.formatted("").getBytes(UTF_8)).whole());
    }

    @Test
    void whatNobodyKnowsIsInBothPayloads() {
        var payload = CardPayload.of(CARD.formatted(",\"unheardOf\":[]").getBytes(UTF_8));

        assertThat(Wire.text(payload.found())).contains("\"unheardOf\":[]");
        assertThat(payload.found()).isEqualTo(payload.whole());
    }

    @ParameterizedTest
    @CsvSource({"'}', ',\"icon_url\":\"https://evil.example\"}'", "skills, kills", "documentationUrl, documentation_url"
    })
    void whatAReaderWouldAddOrFindElsewhereLeavesOnePayload(String from, String to) {
        String card = CARD.formatted("");
        int at = card.lastIndexOf(from);

        var payload = CardPayload.of((card.substring(0, at) + to + card.substring(at + from.length())).getBytes(UTF_8));

        assertThat(payload.found()).isEqualTo(payload.whole());
    }

    @Test
    void aCardOf03IsTakenAsItIsWritten() {
        byte[] card = example("v03", "card.json");
        var payload = CardPayload.of(card);

        assertThat(payload.whole()).isEqualTo(CanonicalJson.of(card)).isEqualTo(payload.found());
    }

    @Test
    void eachFormOfAServedCardIsSignedForEveryoneWhoReadsIt() {
        CardSigner signer = payload -> new Signature("by me", new String(payload, UTF_8), Map.of());
        AgentCard card = Json.read(example("card.minimal.json"), AgentCard.class);

        var served = ServedCard.signed(card, signer);

        for (byte[] form : List.of(served.v1(), served.v03(), served.union())) {
            var payload = CardPayload.of(form);
            assertThat(signatures(form))
                    .contains(new String(payload.whole(), UTF_8), new String(payload.found(), UTF_8));
        }
        assertThat(signatures(served.v1())).hasSize(1).isSubsetOf(signatures(served.union()));
        assertThat(signatures(served.union())).hasSize(2);
        assertThat(served.card().signatures()).hasSize(1);
        assertThat(Wire.text(served.beforeV03())).doesNotContain("signatures");
    }

    @Test
    void signingAgainReplacesOnesOwnSignatureAlone() {
        CardSigner mine = payload -> new Signature("mine", "new", Map.of());
        byte[] signed = mine.signed(mine.signed(CARD.formatted("").getBytes(UTF_8)));

        assertThat(Json.readCard(signed).signatures())
                .containsExactly(new Signature("a", "b", Map.of()), new Signature("mine", "new", Map.of()));
    }

    private static List<String> signatures(byte[] card) {
        List<?> signatures = (List<?>) requireNonNull(Json.read(card, Map.class).get("signatures"));
        return signatures.stream()
                .map(one -> String.valueOf(((Map<?, ?>) one).get("signature")))
                .toList();
    }

    private static String whole(String card) {
        return new String(CardPayload.of(card.getBytes(UTF_8)).whole(), UTF_8);
    }
}
