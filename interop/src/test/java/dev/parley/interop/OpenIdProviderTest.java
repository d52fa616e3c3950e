package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Task;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers with tokens of an OpenID provider as it is published. When it is skipped is as with {@link InteropTest}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OpenIdProviderTest {
    private static final String HUB = "https://agents.example.com";

    private ForeignServer provider;
    private Hub hub;

    @BeforeAll
    void start() throws IOException {
        try {
            ForeignSdk.OPEN_ID_PROVIDER.install();
        } catch (IOException failure) {
            Requirement.missing(String.valueOf(failure.getMessage()));
        }
        provider = ForeignSdk.OPEN_ID_PROVIDER.start("0");
        hub = Hub.builder()
                .port(0)
                .inMemory()
                .grpcOnCards(true)
                .agents(Agent.named("who", "Says who calls")
                        .handle((request, reply) ->
                                reply.complete(request.context().caller())))
                .authentication(Authentication.of(Scheme.OPEN_ID).withScopes(List.of("tasks")))
                .issuer(provider.url())
                .audiences(List.of(HUB))
                .drain(Duration.ZERO)
                .start();
    }

    @AfterAll
    void stop() {
        if (hub != null) { // else it could not be installed
            hub.close();
            provider.close();
        }
    }

    @ParameterizedTest
    @DisplayName("AV11: a token for the hub tells who calls")
    @ValueSource(strings = {AgentCard.Interface.JSONRPC, AgentCard.Interface.HTTP_JSON, AgentCard.Interface.GRPC})
    void aTokenForTheHubTellsWhoCalls(String binding) throws Exception {
        assertThat(call(binding, tokenFor(HUB))).isEqualTo(robot());
    }

    @ParameterizedTest
    @DisplayName("AV11: a token for somebody else is refused")
    @ValueSource(strings = {AgentCard.Interface.JSONRPC, AgentCard.Interface.HTTP_JSON, AgentCard.Interface.GRPC})
    void aTokenForSomebodyElseIsRefused(String binding) throws Exception {
        assertRefused(binding, tokenFor("https://elsewhere.example"));
    }

    @ParameterizedTest
    @ValueSource(strings = {AgentCard.Interface.JSONRPC, AgentCard.Interface.HTTP_JSON, AgentCard.Interface.GRPC})
    void aTokenThatTellsNothingIsRefused(String binding) throws Exception {
        assertRefused(binding, token(""));
    }

    @Test
    void newKeysOfTheProviderCountAsSoonAsItUsesThem() throws Exception {
        assertThat(call(AgentCard.Interface.JSONRPC, tokenFor(HUB))).isEqualTo(robot());

        int port = URI.create(provider.url()).getPort();
        provider.close();
        provider = ForeignSdk.OPEN_ID_PROVIDER.start(String.valueOf(port));

        assertThat(call(AgentCard.Interface.JSONRPC, tokenFor(HUB))).isEqualTo(robot());
    }

    private String robot() {
        return "robot@" + URI.create(provider.url()).getAuthority();
    }

    private String call(String binding, String token) {
        try (AgentClient client =
                AgentClient.builder().prefer(binding).bearer(token).connect(hub.agentUrl("who"))) {
            assertThat(client.address().protocolBinding()).isEqualTo(binding);
            return ((Task) client.send("hello")).text();
        }
    }

    private void assertRefused(String binding, String token) {
        assertThatExceptionOfType(A2AException.class)
                .isThrownBy(() -> call(binding, token))
                .extracting(A2AException::error)
                .isEqualTo(A2AError.UNAUTHENTICATED);
    }

    private String tokenFor(String audience) throws Exception {
        return token("&resource=" + audience);
    }

    /** Asks the provider for a token, by the client credentials that it knows. */
    private String token(String more) throws Exception {
        String credentials = Base64.getEncoder().encodeToString("robot:secret-of-the-robot".getBytes(UTF_8));
        var request = HttpRequest.newBuilder(URI.create(provider.url() + "/token"))
                .header("Authorization", "Basic " + credentials)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("grant_type=client_credentials&scope=tasks" + more))
                .build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<byte[]> answer = http.send(request, BodyHandlers.ofByteArray());
            assertThat(answer.statusCode()).isEqualTo(200);
            return String.valueOf(Json.read(answer.body(), Map.class).get("access_token"));
        }
    }
}
