package dev.parley.dialect;

import static dev.parley.dialect.Wire.example;
import static dev.parley.dialect.Wire.tree;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import dev.parley.dialect.legacy.LegacyCard;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.vault.VaultCard;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.SecurityScheme.ApiKey;
import dev.parley.protocol.SecurityScheme.Flow;
import dev.parley.protocol.SecurityScheme.HttpAuth;
import dev.parley.protocol.SecurityScheme.OAuth2;
import dev.parley.protocol.json.JsonText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Cards of every generation, as they are read, and as they are served to readers of another one. */
final class LegacyCardTest {
    private static final String NOW = "/.well-known/agent-card.json";
    private static final String BEFORE = "/.well-known/agent.json";

    private final Exchange exchange = new Exchange().inEveryDialect();

    private static AgentCard read(String dialect, String file) {
        return Json.readCard(example(dialect, file));
    }

    // ---- In

    @Test
    void aCardOf03HasTheInterfacesThatItNamesOnceEach() {
        AgentCard card = read("v03", "card.json");

        assertThat(card.supportedInterfaces())
                .containsExactly(
                        new Interface("https://agents.example.com/weather", Interface.JSONRPC, null, "0.3"),
                        new Interface("https://agents.example.com/weather/rest", Interface.HTTP_JSON, null, "0.3"));
        assertThat(card.capabilities().extendedAgentCard()).isTrue();
        assertThat(card.securitySchemes().keySet()).containsExactly("key", "bearer", "machine", "oidc", "mtls");
        assertThat(card.securityRequirements().getFirst().schemes()).isEqualTo(Map.of("oidc", List.of("openid")));
        assertThat(card.skills().getFirst().securityRequirements()).hasSize(1);
    }

    @Test
    void aCardThatDoesNotSayItsVersionIsOf02() {
        assertThat(read("v03", "card02.json").supportedInterfaces())
                .containsExactly(new Interface("https://agents.example.com/weather", Interface.JSONRPC, null, "0.2"));
    }

    @Test
    void aCardThatNamesItsSchemesOnlyIsOf01() {
        AgentCard card = read("v01", "card.json");

        assertThat(card.supportedInterfaces().getFirst().protocolVersion()).isEqualTo("0.1");
        assertThat(card.securitySchemes().get("Bearer")).isInstanceOf(HttpAuth.class);
        assertThat(card.securitySchemes().get("ApiKey")).isInstanceOf(ApiKey.class);
        assertThat(card.skills().getFirst().description()).isEmpty();
        assertThat(card.defaultInputModes()).containsExactly("text");
    }

    @Test
    void aCardInSnakeCaseIsOfTheKernel() {
        AgentCard card = read("kernel", "card.json");

        assertThat(card.supportedInterfaces().getFirst().protocolVersion()).isEqualTo("kernel");
        assertThat(card.provider()).isEqualTo(new AgentCard.Provider("Example", "https://example.com"));
        assertThat(card.documentationUrl()).isEqualTo("https://example.com/docs");
        assertThat(card.skills().getFirst().inputModes()).containsExactly("text");
    }

    @ParameterizedTest
    @CsvSource({"v03, card.json", "v03, card02.json", "v01, card.json", "v1, card.full.json"})
    @DisplayName("GEM01: members of a card and of its skills that nobody knows are shown again, in either form")
    void membersThatNobodyKnowsAreShownAgain(String examples, String file) {
        Map<String, @Nullable Object> more = members(example(examples, file));
        more.put("x-vendor", Map.of("tier", List.of("gold")));
        var skill = new LinkedHashMap<>(skill(more));
        skill.put("x-price", 2);
        more.put("skills", List.of(skill));

        AgentCard card = Json.readCard(Json.write(more));

        for (byte[] shown : List.of(Json.write(card), LegacyCard.v03(card), LegacyCard.union(card))) {
            Map<String, @Nullable Object> again = members(shown);
            assertThat(again).containsEntry("x-vendor", more.get("x-vendor"));
            assertThat(skill(again)).containsEntry("x-price", 2);
            assertThat(Json.readCard(shown).others()).isEqualTo(card.others());
        }
        assertThat(card.others()).containsOnlyKeys("x-vendor");
    }

    @Test
    void aMemberWithoutANameIsOneThatNobodyKnows() {
        Map<String, @Nullable Object> more = members(example("card.minimal.json"));
        more.put("", Map.of("name", "another"));

        AgentCard card = Json.readCard(Json.write(more));

        assertThat(card.others()).isEqualTo(Map.of("", Map.of("name", "another")));
        assertThat(members(Json.write(card))).isEqualTo(more);
    }

    @SuppressWarnings("unchecked") // an object
    private static Map<String, @Nullable Object> members(byte[] json) {
        return new LinkedHashMap<>((Map<String, @Nullable Object>) requireNonNull(tree(json)));
    }

    @SuppressWarnings("unchecked") // an object in a list
    private static Map<String, @Nullable Object> skill(Map<String, @Nullable Object> card) {
        return ((List<Map<String, @Nullable Object>>) requireNonNull(card.get("skills"))).getFirst();
    }

    @ParameterizedTest
    @CsvSource({"0.2, false", "0.2.1, false", "1.0, true", "'0.3\n', true"})
    @DisplayName("AV14: another version of the profile is warned of, and spoken to all the same")
    void anotherVersionOfTheProfileIsWarnedOf(String version, boolean warned) {
        var warnings = new ArrayList<String>();
        var logger = Logger.getLogger("dev.parley.dialect");
        var handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                warnings.add(new SimpleFormatter().formatMessage(record));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        try {
            String card = Wire.text(example("agentvault", "card.json"))
                    .replace("\"a2aVersion\": \"0.2\"", "\"a2aVersion\": \"" + version.replace("\n", "\\n") + "\"");

            assertThat(Json.readCard(Wire.bytes(card)).name()).isNotEmpty();
        } finally {
            logger.removeHandler(handler);
        }
        assertThat(warnings).hasSize(warned ? 1 : 0).noneMatch(line -> line.contains("\n"));
    }

    @Test
    void aCardOfAgentVaultNamesItsSchemesByTheirServices() {
        AgentCard card = read("agentvault", "card.json");

        assertThat(card.supportedInterfaces())
                .containsExactly(
                        new Interface("https://agents.example.com/weather", Interface.JSONRPC, null, "agentvault"));
        assertThat(card.securitySchemes()).containsOnlyKeys("weather", "weather-oauth");
        assertThat(card.securitySchemes().get("weather")).isEqualTo(new ApiKey("A key", "header", "X-Api-Key"));
        assertThat(card.securitySchemes().get("weather-oauth"))
                .isInstanceOfSatisfying(
                        OAuth2.class, oauth -> assertThat(oauth.flow()).isInstanceOf(Flow.ClientCredentials.class));
        assertThat(card.capabilities().pushNotifications()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.9", "newest"})
    void anotherVersionOfTheProfileIsReadAllTheSame(String version) {
        String json = Wire.text(example("agentvault", "card.json"))
                .replace("\"a2aVersion\": \"0.2\"", "\"a2aVersion\": \"" + version + "\"");

        assertThat(Json.readCard(Wire.bytes(json))).isEqualTo(read("agentvault", "card.json"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "schemaVersion",
                "humanReadableId",
                "agentVersion",
                "name",
                "description",
                "url",
                "provider",
                "capabilities",
                "authSchemes"
            })
    void aCardOfAgentVaultNeedsItsMembers(String member) {
        @SuppressWarnings("unchecked")
        var less = new LinkedHashMap<String, @Nullable Object>(
                (Map<String, Object>) Wire.tree(example("agentvault", "card.json")));
        less.remove(member);

        assertThatThrownBy(() -> VaultCard.read(Json.write(less)))
                .isInstanceOf(A2AException.class)
                .hasMessageContaining(member);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"scheme\": \"apiKey\"                             | \"scheme\": \"magic\" | scheme",
                "\"tokenUrl\": \"https://id.example.com/token\",    | ''                    | tokenUrl",
                "\"a2aVersion\": \"0.2\",                           | ''                    | a2aVersion"
            })
    void aCardOfAgentVaultThatMakesNoSenseIsRefusedByField(String part, @Nullable String instead, String field) {
        String json = Wire.text(example("agentvault", "card.json")).replace(part, instead == null ? "" : instead);

        assertThatThrownBy(() -> Json.readCard(Wire.bytes(json)))
                .isInstanceOf(A2AException.class)
                .hasMessageContaining(field);
    }

    // ---- Out

    @ParameterizedTest
    @CsvSource({
        NOW + ",    1.0, '',                     now",
        NOW + ",    1.0.1, '',                   now",
        NOW + ",    '',  application/a2a+json,   now",
        NOW + ",    0.3, '',                     03",
        NOW + ",    0.2, '',                     03",
        NOW + ",    0.1, '',                     03",
        NOW + ",    '',  '',                     union",
        NOW + ",    '',  application/json,       union",
        BEFORE + ", '',  '',                     before",
        BEFORE + ", 0.2, '',                     before",
        "/kernel" + BEFORE + ", '', '',          kernel",
        "/agentvault/agent-card.json, '', '',    agentvault"
    })
    void pathAndHeadersDecideWhichCardItIs(String path, String version, String accept, String which) {
        exchange.with("A2A-Version", version).with("Accept", accept);

        var answer = exchange.rest("GET", path);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers())
                .containsEntry("Vary", "A2A-Version, Accept")
                .containsKey("ETag");
        Map<?, ?> card = Json.read(answer.body(), Map.class);
        boolean now = card.containsKey("supportedInterfaces");
        boolean old = card.containsKey("protocolVersion");
        assertThat(now).isEqualTo(which.equals("now") || which.equals("union"));
        assertThat(old).isEqualTo(List.of("03", "union", "before").contains(which));
        assertThat(card.containsKey("authentication")).isEqualTo(which.equals("before") || which.equals("kernel"));
        assertThat(card.containsKey("default_input_modes")).isEqualTo(which.equals("kernel"));
        assertThat(card.containsKey("authSchemes")).isEqualTo(which.equals("agentvault"));
    }

    @Test
    void eachVariantHasATagOfItsOwn() {
        var tags = new HashSet<@Nullable String>();
        for (String version : List.of("1.0", "0.3", "")) {
            tags.add(exchange.with("A2A-Version", version)
                    .rest("GET", NOW)
                    .headers()
                    .get("ETag"));
        }
        tags.add(exchange.rest("GET", BEFORE).headers().get("ETag"));

        assertThat(tags).hasSize(4);
    }

    @Test
    void theUnionIsReadByBothGenerations() {
        AgentCard card = Json.read(example("card.full.json"), AgentCard.class);

        byte[] union = LegacyCard.union(card);

        assertThat(Json.readCard(union))
                .isEqualTo(new AgentCard(
                        card.name(),
                        card.description(),
                        card.supportedInterfaces(),
                        card.provider(),
                        card.version(),
                        card.documentationUrl(),
                        card.capabilities(),
                        card.securitySchemes(),
                        card.securityRequirements(),
                        card.defaultInputModes(),
                        card.defaultOutputModes(),
                        card.skills(),
                        List.of(), // they were made for other bytes
                        card.iconUrl()));
        AgentCard older = JsonText.read(union, LegacyCard.V03);
        assertThat(older.name()).isEqualTo(card.name());
        assertThat(older.skills()).isEqualTo(card.skills());
        assertThat(older.securityRequirements()).isEqualTo(card.securityRequirements());
        assertThat(older.supportedInterfaces().getFirst().url())
                .isEqualTo(card.supportedInterfaces().getFirst().url());
    }

    @Test
    void olderReadersAreSentWhereOlderVersionsAreSpoken() {
        AgentCard card = Json.read(example("card.minimal.json"), AgentCard.class);
        var interfaces = new ArrayList<Interface>();
        interfaces.add(new Interface("https://a.example/now", Interface.JSONRPC, null, "1.0"));
        interfaces.add(new Interface("https://a.example/rest", Interface.HTTP_JSON, null, "0.3"));
        interfaces.add(new Interface("https://a.example/rpc", Interface.JSONRPC, null, "0.3"));
        var both = new AgentCard(
                card.name(),
                card.description(),
                interfaces,
                null,
                card.version(),
                null,
                card.capabilities(),
                Map.of(),
                List.of(),
                card.defaultInputModes(),
                card.defaultOutputModes(),
                card.skills(),
                List.of(),
                null);

        Tree shown = Tree.of(Wire.text(LegacyCard.v03(both)));

        assertThat(shown.at("url").text()).isEqualTo("https://a.example/rpc");
        assertThat(shown.at("preferredTransport").text()).isEqualTo("JSONRPC");
        assertThat(shown.at("additionalInterfaces", 1, "url").text()).isEqualTo("https://a.example/rest");
        assertThat(shown.at("additionalInterfaces").value()).asInstanceOf(LIST).hasSize(2);
    }

    @Test
    void agentsThatSpeak10AloneHaveThePureCardEverywhere() {
        var plain = new Exchange();

        for (String path : List.of(NOW, BEFORE)) {
            assertThat(Json.read(plain.rest("GET", path).body(), Map.class).containsKey("protocolVersion"))
                    .isFalse();
        }
    }

    @Test
    void aCardOfAgentVaultHasAtLeastOneScheme() {
        Tree none = Tree.of(exchange.with(Json.read(example("card.minimal.json"), AgentCard.class))
                .rest("GET", "/agentvault/agent-card.json"));
        Tree some = Tree.of(exchange.with(requiring(List.of("key"), List.of("bearer"), List.of("machine")))
                .rest("GET", "/agentvault/agent-card.json"));

        assertThat(none.at("authSchemes").value()).isEqualTo(List.of(Map.of("scheme", "none")));
        assertThat(some.at("authSchemes").value()).asInstanceOf(LIST).hasSize(3);
        assertThat(some.at("authSchemes", 0, "scheme").text()).isEqualTo("apiKey");
        assertThat(some.at("authSchemes", 1, "scheme").text()).isEqualTo("bearer");
        assertThat(some.at("authSchemes", 2).text()).contains("oauth2", "tokenUrl");
    }

    private static AgentCard requiring(List<?>... requirements) {
        AgentCard card = Json.read(example("card.full.json"), AgentCard.class);
        return card.withSecurity(
                card.securitySchemes(),
                Stream.of(requirements)
                        .map(names -> new AgentCard.SecurityRequirement(
                                names.stream().collect(Collectors.toMap(String::valueOf, name -> List.<String>of()))))
                        .toList());
    }

    @Test
    @DisplayName("D8: there is no card of AgentVault that would say that no credentials are needed where others are")
    void thereIsNoCardOfAgentVaultWithoutAWordForTheCredentials() {
        for (AgentCard card : List.of(
                requiring(List.of("mtls")),
                requiring(List.of("oidc")),
                requiring(List.of("code"), List.of("mtls")),
                requiring(List.of("mtls", "key")))) {
            for (String path :
                    List.of("", "/agent-card.json", "/.well-known/agent.json", "/.well-known/agent-card.json")) {
                WireAnswer.Whole answer = exchange.with(card).rest("GET", "/agentvault" + path);

                assertThat(answer.status()).isEqualTo(404);
                assertThat(new String(answer.body(), UTF_8))
                        .contains("no word for the credentials that it requires")
                        .doesNotContain("authSchemes");
            }
        }
    }

    @Test
    @DisplayName("D8: a card of AgentVault names the schemes of which one is enough, and none where callers need none")
    void aCardOfAgentVaultNamesSchemesThatAreEnough() {
        Tree mixed = Tree.of(exchange.with(requiring(List.of("mtls"), List.of("mtls", "bearer"), List.of("key")))
                .rest("GET", "/agentvault/agent-card.json"));
        Tree open = Tree.of(
                exchange.with(requiring(List.of("mtls"), List.of())).rest("GET", "/agentvault/agent-card.json"));

        assertThat(mixed.at("authSchemes").value()).asInstanceOf(LIST).hasSize(1);
        assertThat(mixed.at("authSchemes", 0, "scheme").text()).isEqualTo("apiKey");
        assertThat(open.at("authSchemes").value()).isEqualTo(List.of(Map.of("scheme", "none")));
    }
}
