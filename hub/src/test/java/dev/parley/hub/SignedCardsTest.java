package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.CardPolicy;
import dev.parley.client.spi.ClientException;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.protocol.CardVerifier.Outcome;
import dev.parley.protocol.CardVerifier.Verdict;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardKeys.Algorithm;
import dev.parley.trust.cards.CardTrust;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The signatures of a hub's cards, as outsiders see them. Rows of the feature matrix are in the names. */
@Timeout(60)
final class SignedCardsTest {
    @TempDir
    Path directory;

    private Path now;
    private Path next;
    private Hub hub;
    private Outsider outsider;

    @BeforeEach
    void start() {
        now = key("now.json", Algorithm.ES256);
        next = key("next.json", Algorithm.EDDSA);
        hub = hub(List.of(now, next));
        outsider = new Outsider(hub.url());
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    private Path key(String name, Algorithm algorithm) {
        Path file = directory.resolve(name);
        CardKeys.create(file, algorithm, null);
        return file;
    }

    private static Hub hub(List<Path> keys) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .agents(agent("open"), agent("keyed"))
                .callers(Callers.builder().apiKey("alice", "key-of-alice-12345").build())
                .authentication("keyed", Authentication.of(Scheme.API_KEY))
                .cardKeys(CardKeys.read(keys))
                .start();
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Größe \"L\"")
                .skill("hello", "Says hello", "greeting")
                .handle((request, reply) -> reply.complete(request.text()));
    }

    @ParameterizedTest
    @DisplayName("GEM07: the cards of every agent, in every form that has signatures, are signed by the published key")
    @CsvSource({
        "/.well-known/agent-card.json, 1.0, 1",
        "/.well-known/agent-card.json, 0.3, 1",
        "/.well-known/agent-card.json, '',  2",
        "/agents/open/.well-known/agent-card.json, 1.0, 1",
        "/agents/keyed/.well-known/agent-card.json, 1.0, 1",
        "/agents/keyed/.well-known/agent-card.json, 0.3, 1",
        "/agents/keyed/.well-known/agent-card.json, '',  2",
    })
    void everyCardIsSigned(String path, String version, int signatures) throws Exception {
        HttpResponse<String> keys = outsider.get("/.well-known/jwks.json");

        String card = card(path, version);

        assertThat(keys.headers().firstValue("Content-Type")).contains("application/jwk-set+json");
        Verdict verdict = CardTrust.of(keys.body()).verify(card.getBytes(UTF_8));
        assertThat(verdict.isVerified()).as(verdict.reason()).isTrue();
        assertThat(verdict.reason()).endsWith("has signed it (ES256)");
        assertThat(Outsider.Shown.of(card).at("signatures").value())
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .hasSize(signatures);
    }

    @Test
    @DisplayName("GEM07: all keys are published, without what is secret of them, and named in the signatures")
    void allKeysArePublished() throws Exception {
        String keys = outsider.get("/.well-known/jwks.json").body();
        String header = String.valueOf(Outsider.Shown.of(card("/.well-known/agent-card.json", "1.0"))
                .at("signatures", 0, "protected")
                .value());

        assertThat(keys)
                .contains(
                        CardKeys.read(List.of(now)).id(),
                        CardKeys.read(List.of(next)).id())
                .doesNotContain("\"d\":");
        assertThat(Json.read(Base64.getUrlDecoder().decode(header), Object.class))
                .isEqualTo(Map.of(
                        "alg",
                        "ES256",
                        "kid",
                        CardKeys.read(List.of(now)).id(),
                        "typ",
                        "JOSE",
                        "jku",
                        hub.url() + "/.well-known/jwks.json"));
    }

    @Test
    void aCardIsSignedOnceAndNotForEachRequest() throws Exception {
        for (String version : List.of("1.0", "0.3", "")) {
            assertThat(card("/.well-known/agent-card.json", version))
                    .isEqualTo(card("/.well-known/agent-card.json", version));
        }
    }

    @Test
    void cardsWithoutAPlaceForSignaturesHaveNone() throws Exception {
        for (String path : List.of("/.well-known/agent.json", "/kernel/.well-known/agent.json", "/agentvault")) {
            assertThat(outsider.get("/agents/open" + path).body()).doesNotContain("signatures");
        }
    }

    @Test
    @DisplayName("GEM07, S40: a client goes by its own keys, whatever the hub publishes")
    void aClientGoesByItsOwnKeys() {
        assertThat(connect(now)).isEqualTo("Größe \"L\"");
        var refused = catchThrowableOfType(ClientException.class, () -> connect(next));

        assertThat(refused.problem()).isEqualTo(ClientException.Problem.CARD_NOT_VERIFIED);
        assertThat(refused).hasMessageContaining(Outcome.UNVERIFIABLE + ": key");
    }

    @Test
    @DisplayName("GEM07: the key is changed without a moment in which clients that know both would be refused")
    void theKeyIsChanged() {
        hub.close();
        hub = hub(List.of(next, now));

        assertThat(connect(now, next)).isEqualTo("Größe \"L\"");
        assertThat(catchThrowableOfType(ClientException.class, () -> connect(now))
                        .problem())
                .isEqualTo(ClientException.Problem.CARD_NOT_VERIFIED);
    }

    @Test
    void withoutKeysNothingIsSignedOrPublished() throws Exception {
        try (Hub plain = Hub.builder().inMemory().port(0).agents(agent("open")).start()) {
            var plainOutsider = new Outsider(plain.url());

            assertThat(plainOutsider.get("/.well-known/jwks.json").statusCode()).isEqualTo(404);
            assertThat(plainOutsider.get("/.well-known/agent-card.json").body()).doesNotContain("signatures");
        }
    }

    private String connect(Path... keys) {
        try (AgentClient client = AgentClient.builder()
                .verifyCards(CardTrust.read(List.of(keys)), CardPolicy.REQUIRE)
                .connect(hub.agentUrl("keyed"))) {
            return client.refreshCard().description();
        }
    }

    private String card(String path, String version) throws Exception {
        return version.isEmpty()
                ? outsider.get(path).body()
                : outsider.get(path, "A2A-Version", version).body();
    }
}
