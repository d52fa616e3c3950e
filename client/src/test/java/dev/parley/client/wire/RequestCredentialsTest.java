package dev.parley.client.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.Notes;
import dev.parley.client.RawServer;
import dev.parley.client.RawServer.Request;
import dev.parley.client.TestAgent;
import dev.parley.client.keys.KeyManager;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Feature row AV22: which of the keys that there are goes to an agent, by what its card asks for. */
@Timeout(30)
class RequestCredentialsTest {
    private static final String API_KEY =
            "\"apiKey\":{\"apiKeySecurityScheme\":{\"location\":\"header\",\"name\":\"X-Api-Key\"}}";
    private static final String BEARER = "\"bearer\":{\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}}";

    private final Map<String, String> environment = new HashMap<>();
    private final Notes notes = new Notes(new CopyOnWriteArrayList<>());
    private TestAgent agent;
    private RawServer login;
    private int loginStatus = 200;

    @BeforeEach
    void start() throws IOException {
        agent = new TestAgent((request, connection) -> {
            if ("Bearer t-revoked".equals(request.header("Authorization"))) {
                connection.answer(401, "", "WWW-Authenticate: Bearer");
            } else {
                connection.answer(200, TestAgent.rpc(TestAgent.task("COMPLETED")));
            }
        });
        login = new RawServer(connection -> {
            for (Request request = connection.request(); request != null; request = connection.request()) {
                String token = login.requests.size() == 1 ? "t-revoked" : "token-" + login.requests.size();
                connection.answer(loginStatus, "{\"access_token\":\"" + token + "\"}");
            }
        });
    }

    @AfterEach
    void stop() {
        agent.server.close();
        login.close();
    }

    private String oauth() {
        return "\"oauth\":{\"oauth2SecurityScheme\":{\"flows\":{\"clientCredentials\":{\"tokenUrl\":\""
                + login.url("/token") + "\",\"scopes\":{\"read\":\"Reads\"}}}}}";
    }

    private void card(List<String> schemes, String... requirements) {
        String more = "\"securitySchemes\":{" + String.join(",", schemes) + "},\"securityRequirements\":["
                + String.join(",", requirements) + "],";
        agent.with(TestAgent.card(agent.url(), "JSONRPC", more));
    }

    private static String requires(String scheme, String... scopes) {
        String list = scopes.length == 0 ? "" : "\"list\":[\"" + String.join("\",\"", scopes) + "\"]";
        return "{\"schemes\":{\"" + scheme + "\":{" + list + "}}}";
    }

    private AgentClientBuilder builder() {
        KeyManager keys = KeyManager.builder().environment(environment).build();
        return TestAgent.hasty().keys(keys, "bank").allowOrigin(login.url("")).listener(notes);
    }

    private static AgentCard cardOf(String origin) {
        try (AgentClient client = TestAgent.hasty().connect(origin)) {
            return client.card();
        }
    }

    private Request call() {
        try (AgentClient client = builder().connect(agent.origin())) {
            client.task("t1");
        }
        return lastCall();
    }

    private Request lastCall() {
        return List.copyOf(agent.calls).getLast();
    }

    @Test
    @DisplayName("AV22: an API key comes before an OAuth client, that before nothing, that before a bearer token")
    void theOrderIsApiKeyThenOAuthThenNothingThenBearer() {
        environment.put("AGENTVAULT_KEY_BANK", "the-key-itself");
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_ID", "me");
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_SECRET", "s3cret");
        List<String> all = List.of(BEARER, oauth(), API_KEY);

        card(all, requires("bearer"), "{\"schemes\":{}}", requires("oauth"), requires("apiKey"));
        assertThat(call().header("X-Api-Key")).isEqualTo("the-key-itself");
        assertThat(login.requests).isEmpty();

        card(all, requires("bearer"), "{\"schemes\":{}}");
        assertThat(call().header("Authorization")).isNull();

        card(all, requires("bearer"));
        assertThat(call().header("Authorization")).isEqualTo("Bearer the-key-itself");
        assertThat(notes.lines()).noneMatch(line -> line.contains("the-key-itself"));
    }

    @Test
    @DisplayName("AV22: an OAuth client gets a token by a form, without Basic, with the scopes that the card requires")
    void anOAuthClientGetsATokenByAForm() {
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_ID", "me");
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_SECRET", "s3cret");
        card(List.of(oauth(), API_KEY), requires("apiKey"), requires("oauth", "read", "write"));

        try (AgentClient client =
                builder().header("X-Tenant", "for the agent only").connect(agent.origin())) {
            // The first token is refused, as one that was revoked would be, and is not used again.
            assertThatThrownBy(() -> client.task("t1")).isInstanceOf(A2AException.class);
            client.task("t1");
            client.task("t1");
        }

        assertThat(lastCall().header("Authorization")).isEqualTo("Bearer token-2");
        assertThat(login.requests).hasSize(2);
        Request asked = login.requests.getFirst();
        assertThat(asked.line()).startsWith("POST /token ");
        assertThat(asked.header("Content-Type")).isEqualTo("application/x-www-form-urlencoded");
        assertThat(asked.header("Authorization")).isNull();
        assertThat(asked.header("X-Tenant")).isNull();
        assertThat(asked.text())
                .isEqualTo("grant_type=client_credentials&client_id=me&client_secret=s3cret&scope=read+write");
        assertThat(notes.lines()).noneMatch(line -> line.contains("s3cret") || line.contains("token-2"));
    }

    @Test
    @DisplayName("AV22: an OAuth client that the authorization server does not accept is an error of authentication")
    void aClientThatIsNotAcceptedIsAnErrorOfAuthentication() {
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_ID", "me");
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_SECRET", "s3cret");
        card(List.of(oauth()), requires("oauth"));
        loginStatus = 401;

        var refusal = catchThrowableOfType(ClientException.class, this::call);

        assertThat(refusal.problem()).isEqualTo(Problem.AUTHENTICATION_FAILED);
        assertThat(agent.calls).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Host", "Content-Length", "Connection", "a b", ""})
    void aKeyNeverGoesIntoAHeaderOfHttpItself(String header) {
        environment.put("AGENTVAULT_KEY_BANK", "the-key-itself");
        card(List.of(API_KEY.replace("X-Api-Key", header)), requires("apiKey"));

        Request call = call();

        assertThat(call.text()).contains("GetTask");
        assertThat(call.header("Host")).isNotEqualTo("the-key-itself");
    }

    @Test
    void aCardThatRequiresNothingWantsTheScopesThatItLists() {
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_ID", "me");
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_SECRET", "s3cret");
        login.requests.add(new Request("", new byte[0])); // not the token that is revoked
        card(List.of(oauth()));

        assertThat(call().header("Authorization")).isEqualTo("Bearer token-2");
        assertThat(login.requests.getLast().text()).endsWith("&scope=read");
    }

    @Test
    void aClientSecretNeverGoesToATokenUrlThatWasNotAllowed() {
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_ID", "me");
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_SECRET", "s3cret");
        card(List.of(oauth()), requires("oauth"));
        KeyManager keys = KeyManager.builder().environment(environment).build();

        var refusal = catchThrowableOfType(ClientException.class, () -> {
            try (AgentClient client = TestAgent.hasty().keys(keys, "bank").connect(agent.origin())) {
                client.task("t1");
            }
        });

        assertThat(refusal.problem()).isEqualTo(Problem.ORIGIN_NOT_ALLOWED);
        assertThat(refusal).hasMessageContaining("allowOrigin(\"http://localhost:" + login.port() + "\")");
        assertThat(login.requests).isEmpty();
        assertThat(agent.calls).isEmpty();
    }

    @Test
    void credentialsNeverGoToAnotherMachineOverPlainHttp() {
        environment.put("AGENTVAULT_KEY_BANK", "the-key");
        // Reaches this machine by an address that is not known to be one.
        String remote = agent.origin().replaceFirst("localhost|127\\.0\\.0\\.1", "0.0.0.0");
        agent.with(TestAgent.card(remote + "/agent", "JSONRPC", "\"securitySchemes\":{" + API_KEY + "},"));
        KeyManager keys = KeyManager.builder().environment(environment).build();
        AgentCard card = cardOf(remote);

        for (var credentials : List.<UnaryOperator<AgentClientBuilder>>of(
                client -> client.bearer("s3cret"),
                client -> client.apiKey("s3cret"),
                client -> client.header("X-Secret", "s3cret"),
                client -> client.keys(keys, "bank"))) {
            for (var connecting : List.<Function<AgentClientBuilder, AgentClient>>of(
                    client -> client.connect(remote), client -> client.of(card))) {
                var refusal = catchThrowableOfType(ClientException.class, () -> {
                    try (AgentClient client = connecting.apply(credentials.apply(TestAgent.hasty()))) {
                        client.task("t1");
                    }
                });
                assertThat(refusal.problem()).isEqualTo(Problem.PLAIN_HTTP);
                assertThat(refusal).hasMessageNotContaining("s3cret");
            }
        }
        assertThat(agent.calls).isEmpty();

        try (AgentClient allowed =
                        TestAgent.hasty().plainHttp().bearer("s3cret").of(card);
                AgentClient without = TestAgent.hasty().of(card)) {
            allowed.task("t1");
            without.task("t1");
        }
        assertThat(agent.calls).hasSize(2);
    }

    @Test
    void schemesThatAreRequiredTogetherAreSatisfiedTogether() {
        environment.put("AGENTVAULT_KEY_BANK", "the-key");
        card(List.of(API_KEY, oauth()), "{\"schemes\":{\"apiKey\":{},\"oauth\":{}}}", "{\"schemes\":{\"unknown\":{}}}");

        assertThat(call().header("X-Api-Key")).isNull();

        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_ID", "me");
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_SECRET", "s3cret");
        login.requests.add(new Request("", new byte[0])); // not the token that is revoked
        Request both = call();
        assertThat(both.header("X-Api-Key")).isEqualTo("the-key");
        assertThat(both.header("Authorization")).startsWith("Bearer token-");
    }

    @Test
    void withoutAnIdTheHostIsTheService() {
        environment.put("AGENTVAULT_KEY_LOCALHOST:" + agent.server.port(), "for the host");
        environment.put("AGENTVAULT_KEY_APIKEY", "for whoever calls its scheme apiKey");
        card(List.of(API_KEY));
        KeyManager keys = KeyManager.builder().environment(environment).build();

        try (AgentClient client = TestAgent.hasty().keys(keys).connect(agent.origin())) {
            client.task("t1");
        }

        assertThat(lastCall().header("X-Api-Key")).isEqualTo("for the host");
    }

    @Test
    void whatTheCallerSaysComesFirst() {
        environment.put("AGENTVAULT_KEY_BANK", "the-key");
        card(List.of(API_KEY));

        try (AgentClient client = builder().apiKey("said").connect(agent.origin())) {
            client.task("t1");
        }
        assertThat(lastCall().header("X-Api-Key")).isEqualTo("said");
        try (AgentClient client = builder().bearer("said").connect(agent.origin())) {
            client.task("t1");
        }
        assertThat(lastCall().header("X-Api-Key")).isNull();
    }

    @Test
    @DisplayName("AV22: a service that a card names gets tokens only at origins that are allowed for it")
    void theClientOfAServiceOfACardGoesOnlyToAllowedTokenEndpoints() {
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_ID", "me");
        environment.put("AGENTVAULT_OAUTH_BANK_CLIENT_SECRET", "s3cret");
        agent.with(
                "{\"schemaVersion\":\"1.0\",\"humanReadableId\":\"org/bank\",\"agentVersion\":\"1\",\"name\":\"bank\","
                        + "\"description\":\"Pays\",\"url\":\"" + agent.url() + "\",\"provider\":{\"name\":\"Org\"},"
                        + "\"capabilities\":{\"a2aVersion\":\"0.2\"},\"authSchemes\":[{\"scheme\":\"oauth2\","
                        + "\"tokenUrl\":\"" + login.url("/token") + "\",\"service_identifier\":\"bank\"}]}");
        KeyManager keys = KeyManager.builder().environment(environment).build();

        for (List<String> origins : List.of(List.of(agent.origin()), List.of(agent.origin(), login.url("")))) {
            AgentClientBuilder builder = TestAgent.hasty().keys(keys).allowOrigin(login.url(""));
            origins.forEach(origin -> builder.keyOrigin("bank", origin));
            try (AgentClient client = builder.connect(agent.origin())) {
                assertThatThrownBy(() -> client.task("t1"))
                        .isInstanceOf(Exception.class); // the agent speaks another dialect
            }
            assertThat(login.requests.isEmpty()).isEqualTo(origins.size() == 1);
        }
    }
}
