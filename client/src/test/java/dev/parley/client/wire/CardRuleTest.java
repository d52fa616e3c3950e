package dev.parley.client.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClientBuilder;
import dev.parley.client.RawServer;
import dev.parley.client.TestAgent;
import dev.parley.client.spi.CardPolicy;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.dialect.Json;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CardVerifier;
import dev.parley.protocol.CardVerifier.Outcome;
import dev.parley.protocol.CardVerifier.Verdict;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which cards a client uses that has them verified. Security checks are in the names. */
@Timeout(30)
class CardRuleTest {
    private static final String EXTENDED =
            TestAgent.card("http://127.0.0.1:1/", "JSONRPC", "").replace("\"test\"", "\"extended\"");

    private final List<String> judged = new ArrayList<>();

    /** Judges all cards of that name so, and verifies others. */
    private CardVerifier judging(String name, Outcome outcome) {
        return card -> {
            judged.add(new String(card, UTF_8));
            boolean meant = Json.readCard(card).name().equals(name);
            return new Verdict(meant ? outcome : Outcome.VERIFIED, "k1", "because");
        };
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "VERIFIED")
    @DisplayName("S41: a card that is not verified is not used, if that is required")
    void aCardThatIsNotVerifiedIsNotUsed(Outcome outcome) throws Exception {
        try (var agent = agent()) {
            AgentClientBuilder builder = TestAgent.hasty().verifyCards(judging("test", outcome), CardPolicy.REQUIRE);

            var refused = catchThrowableOfType(ClientException.class, () -> builder.connect(agent.url()));

            assertThat(refused.problem()).isEqualTo(Problem.CARD_NOT_VERIFIED);
            assertThat(refused)
                    .hasMessage(agent.origin() + "/.well-known/agent-card.json: the card is " + outcome + ": because");
        }
    }

    @Test
    void aCardIsJudgedExactlyAsItCame() throws Exception {
        try (var agent = agent()) {
            String card = TestAgent.card(agent.url(), "JSONRPC", "\"unheardOf\" : 1,");
            agent.with(card);

            try (var client = requiring(judging("", Outcome.TAMPERED)).connect(agent.origin())) {
                assertThat(client.card().name()).isEqualTo("test");
                assertThat(judged).containsExactly(card);
            }
        }
    }

    @Test
    void ifItIsToWarnTheClientUsesTheCard() throws Exception {
        try (var agent = agent();
                var client = TestAgent.hasty()
                        .verifyCards(judging("test", Outcome.TAMPERED), CardPolicy.WARN)
                        .connect(agent.origin())) {
            assertThat(client.card().name()).isEqualTo("test");
        }
    }

    @Test
    void aCardThatIsFetchedAgainIsJudgedAgain() throws Exception {
        try (var agent = agent();
                var client = requiring(judging("changed", Outcome.TAMPERED)).connect(agent.origin())) {
            agent.with(TestAgent.card(agent.url(), "JSONRPC", "").replace("\"test\"", "\"changed\""));

            var refused = catchThrowableOfType(ClientException.class, client::refreshCard);

            assertThat(refused.problem()).isEqualTo(Problem.CARD_NOT_VERIFIED);
            assertThat(client.card().name()).isEqualTo("test");
        }
    }

    @Test
    void anExtendedCardIsJudgedToo() throws Exception {
        try (var agent = agent();
                var client = requiring(judging("extended", Outcome.UNSIGNED)).connect(agent.origin())) {
            var refused = catchThrowableOfType(ClientException.class, client::extendedCard);

            assertThat(refused.problem()).isEqualTo(Problem.CARD_NOT_VERIFIED);
            assertThat(client.card().name()).isEqualTo("test");
        }
    }

    @Test
    void anAgentWithoutCardIsNotGuessedIfItsCardIsToBeVerified() throws Exception {
        try (var server = new RawServer(connection -> {
            for (var request = connection.request(); request != null; request = connection.request()) {
                boolean probe = request.line().startsWith("POST");
                connection.answer(
                        probe ? 200 : 404,
                        "{\"jsonrpc\":\"2.0\",\"id\":\"probe\",\"error\":{\"code\":-32602,\"message\":\"no\"}}",
                        "Content-Type: application/json");
            }
        })) {
            CardVerifier nobody = card -> new Verdict(Outcome.UNSIGNED, null, "because");

            var refused = catchThrowableOfType(
                    ClientException.class, () -> requiring(nobody).connect(server.url("/rpc")));

            assertThat(refused.problem()).isEqualTo(Problem.CARD_NOT_VERIFIED);
        }
    }

    @Test
    void aCardThatTheUserBringsIsTheirs() {
        AgentCard card = Json.readCard(EXTENDED.getBytes(UTF_8));

        try (var client = requiring(judging("extended", Outcome.TAMPERED)).of(card)) {
            assertThat(client.card()).isSameAs(card);
            assertThat(judged).isEmpty();
        }
    }

    private static AgentClientBuilder requiring(CardVerifier verifier) {
        return TestAgent.hasty().verifyCards(verifier, CardPolicy.REQUIRE);
    }

    private static TestAgent agent() throws IOException {
        return new TestAgent((request, connection) ->
                connection.answer(200, TestAgent.rpc(EXTENDED), "Content-Type: application/json"));
    }
}
