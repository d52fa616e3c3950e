package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.client.keys.KeyManager;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Part;
import dev.parley.protocol.SecurityScheme.Flow;
import dev.parley.protocol.Task;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may call an agent, and by what it is shown, as outsiders see it. Rows of the feature matrix are in the names. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class AuthenticationTest {
    private static final String ALICE = "key-of-alice-12345";
    private static final String MALLORY = "key-of-mallory-12345";
    private static final String BOB = "token-of-bob-12345";
    private static final String SECRET = "secret-of-the-shop";
    private static final String SEND = "{'message':{'role':'user','parts':[{'type':'text','content':'hello'}]}}";

    private static final Callers CALLERS = Callers.builder()
            .apiKey("alice", ALICE)
            .apiKey("mallory", MALLORY)
            .bearer("bob", BOB)
            .oauthClient("shop", "shop-client", SECRET)
            .scopes("shop", List.of("tasks"))
            .oauthClient("stall", "stall-client", SECRET)
            .oauthClient("operator", "operator-client", SECRET)
            .scopes("operator", List.of("admin"))
            .build();

    private final Hub hub = hub().inMemory().start();
    private final Outsider outsider = new Outsider(hub.url());

    private static HubBuilder hub() {
        return Hub.builder()
                .port(0)
                .grpcOnCards(true)
                .agents(
                        agent("keyed"),
                        agent("open"),
                        agent("bearers"),
                        agent("tokens"),
                        agent("any"),
                        agent("passwords"),
                        agent("basics"))
                .authentication("basics", Authentication.of(Scheme.BASIC))
                .authentication("passwords", Authentication.of(Scheme.API_KEY, Scheme.BASIC))
                .callers(CALLERS)
                .authentication(Authentication.of(Scheme.API_KEY))
                .authentication("open", Authentication.NONE)
                .authentication("bearers", Authentication.of(Scheme.BEARER))
                .authentication("tokens", Authentication.of(Scheme.OAUTH2).withScopes(List.of("tasks")))
                .authentication("any", Authentication.of(Scheme.API_KEY, Scheme.BEARER, Scheme.OAUTH2));
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Says who calls")
                .inputModes("*/*")
                .outputModes("*/*")
                .handle((request, reply) -> reply.complete(request.context().caller()));
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private static String vault(String agent) {
        return "/agents/" + agent + "/agentvault";
    }

    private HttpResponse<String> send(String agent, String... headers) throws Exception {
        return outsider.post(
                vault(agent), "{'jsonrpc':'2.0','id':1,'method':'tasks/send','params':" + SEND + "}", headers);
    }

    private String token(String client) throws Exception {
        return token(hub, client);
    }

    private static String token(Hub hub, String client) throws Exception {
        String form = "grant_type=client_credentials&client_id=" + client + "&client_secret=" + SECRET;
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<byte[]> answer = http.send(
                    HttpRequest.newBuilder(URI.create(hub.url() + "/oauth/token"))
                            .header("Content-Type", "application/x-www-form-urlencoded")
                            .POST(BodyPublishers.ofString(form))
                            .build(),
                    BodyHandlers.ofByteArray());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.headers().firstValue("Cache-Control")).contains("no-store");
            return String.valueOf(Json.read(answer.body(), Map.class).get("access_token"));
        }
    }

    private Shown vaultCard(String agent) throws Exception {
        return Shown.of(outsider.get(vault(agent) + "/agent-card.json").body());
    }

    @Test
    @DisplayName(
            "D8: an agent with passwords or certificates only has no card of AgentVault, and refuses callers without")
    void passwordsAndCertificatesHaveNoCardOfAgentVault() throws Exception {
        HttpResponse<String> card = outsider.get(vault("basics") + "/agent-card.json");

        assertThat(card.statusCode()).isEqualTo(404);
        assertThat(card.body()).contains("no word for the credentials that it requires");
        assertThat(send("basics").statusCode()).isEqualTo(401);
        assertThat(vaultCard("passwords").at("authSchemes").size()).isEqualTo(1);
        assertThat(vaultCard("open").at("authSchemes", 0, "scheme").text()).isEqualTo("none");
    }

    // ---- The schemes

    @Test
    @DisplayName("AV09, AV10: the right key in X-Api-Key is let in, none or a wrong one gets 401, the card says so")
    void keysAreAskedFor() throws Exception {
        assertThat(vaultCard("keyed").at("authSchemes").value())
                .isEqualTo(List.of(Map.of("scheme", "apiKey", "service_identifier", "parley")));
        assertThat(vaultCard("open").at("authSchemes").value()).isEqualTo(List.of(Map.of("scheme", "none")));

        assertThat(send("keyed", "X-Api-Key", ALICE).statusCode()).isEqualTo(200);
        assertThat(send("open").statusCode()).isEqualTo(200);
        for (HttpResponse<String> refused : List.of(
                send("keyed"),
                send("keyed", "X-Api-Key", ALICE + "x"),
                send("keyed", "X-Api-Key", ""),
                send("keyed", "X-Api-Key", ALICE, "X-Api-Key", ALICE),
                send("keyed", "Authorization", "Bearer " + ALICE))) {
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(refused.headers().firstValue("WWW-Authenticate"))
                    .contains("ApiKey realm=\"parley\", header=\"X-Api-Key\"");
            Shown body = Shown.of(refused.body());
            assertThat(body.names()).containsExactly("jsonrpc", "id", "error");
            assertThat(body.at("error", "message").text()).isNotBlank();
        }
    }

    @Test
    @DisplayName("GEM06, GEM21: cards declare all four OAuth 2 flows, and the header of API keys can be set")
    void cardsDeclareWhatTheHubIsSetTo() throws Exception {
        Map<String, String> scopes = Map.of("read", "Reads");
        try (Hub other = Hub.builder()
                .inMemory()
                .port(0)
                .agents(agent("flows"))
                .callers(CALLERS)
                .issuer("https://login.example.com")
                .set("api-key-header", "API-Key")
                .authentication(Authentication.of(Scheme.API_KEY, Scheme.OAUTH2, Scheme.OPEN_ID))
                .oauthFlow(new Flow.AuthorizationCode(
                        "https://login.example.com/a", "https://login.example.com/t", null, scopes, true))
                .oauthFlow(
                        new Flow.DeviceCode("https://login.example.com/d", "https://login.example.com/t", null, scopes))
                .oauthFlow(new Flow.Implicit("https://login.example.com/a", null, scopes))
                .start()) {
            var there = new Outsider(other.url());
            String card = there.get("/agents/flows/.well-known/agent-card.json", "A2A-Version", "1.0")
                    .body();
            String older = there.get("/agents/flows/.well-known/agent-card.json", "A2A-Version", "0.3")
                    .body();

            assertThat(List.of(card, older))
                    .allSatisfy(json -> assertThat(json)
                            .contains("clientCredentials", "authorizationCode", "deviceCode", "implicit", "API-Key"));
            for (String header : List.of("API-Key", "X-Api-Key")) {
                assertThat(there.result("/agents/flows", "ListTasks", "{}", header, ALICE, "A2A-Version", "1.0")
                                .has("tasks"))
                        .isTrue();
            }
            assertThat(there.post(
                                    "/agents/flows",
                                    "{'jsonrpc':'2.0','id':1,'method':'ListTasks','params':{}}",
                                    "A2A-Version",
                                    "1.0")
                            .statusCode())
                    .isEqualTo(401);
        }
    }

    @Test
    @DisplayName("AV11: the card lists no bearer with which no client gets in, where passwords are taken")
    void passwordsAreNotListedAsBearer() throws Exception {
        assertThat(vaultCard("passwords").at("authSchemes").value())
                .isEqualTo(List.of(Map.of("scheme", "apiKey", "service_identifier", "parley")));
    }

    @Test
    @DisplayName("AV11: a bearer token is let in, given for good or for a while; a bad one gets 401")
    void bearerTokensAreAskedFor() throws Exception {
        assertThat(vaultCard("bearers").at("authSchemes").value())
                .isEqualTo(List.of(Map.of("scheme", "bearer", "service_identifier", "parley")));

        assertThat(send("bearers", "Authorization", "Bearer " + BOB).statusCode())
                .isEqualTo(200);
        String token = token("stall-client");
        assertThat(send("bearers", "Authorization", "Bearer " + token).statusCode())
                .isEqualTo(200);
        String cut = token.substring(0, token.length() - 2);
        HttpResponse<String> refused = send("bearers", "Authorization", "Bearer " + cut);
        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.headers().firstValue("WWW-Authenticate").orElse(""))
                .contains("Bearer realm=\"parley\", error=\"invalid_token\"");
    }

    @Test
    @DisplayName("AV12: a token of the card's tokenUrl with its scopes is let in; without a scope it is refused")
    void clientsGetTokens() throws Exception {
        Shown oauth = vaultCard("tokens").at("authSchemes", 0);
        assertThat(oauth.at("scheme").text()).isEqualTo("oauth2");
        assertThat(oauth.at("tokenUrl").text()).isEqualTo(hub.url().replace("127.0.0.1", "localhost") + "/oauth/token");
        assertThat(oauth.at("scopes").value()).isEqualTo(List.of("tasks"));
        assertThat(oauth.at("service_identifier").text()).isEqualTo("parley");

        assertThat(send("tokens", "Authorization", "Bearer " + token("shop-client"))
                        .statusCode())
                .isEqualTo(200);
        HttpResponse<String> refused = send("tokens", "Authorization", "Bearer " + token("stall-client"));
        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(refused.headers().firstValue("WWW-Authenticate").orElse(""))
                .contains("Bearer realm=\"parley\", error=\"insufficient_scope\", scope=\"tasks\"");
        assertThat(send("tokens", "Authorization", "Bearer " + BOB).statusCode())
                .isEqualTo(401);
    }

    // ---- No side door

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POST | /agents/keyed            | 1.0 | error.code",
                "POST | /                        | 1.0 | error.code",
                "POST | /agents/keyed            | 0.3 | error.code",
                "POST | /agents/keyed            |     | error.code",
                "POST | /agents/keyed/kernel     |     | error.code",
                "POST | /agents/keyed/agentvault |     | error.code",
                "POST | /agents/keyed/message:send    | 1.0 | error.status",
                "POST | /agents/keyed/message:stream  | 1.0 | error.status",
                "GET  | /agents/keyed/tasks           | 1.0 | error.status",
                "GET  | /agents/keyed/tasks/t         |     | error.status",
                "GET  | /agents/keyed/extendedAgentCard |   | error.status",
                "POST | /agents/keyed/v1/message:send |     | message",
                "GET  | /agents/keyed/v1/tasks/t      |     | message",
                "GET  | /agents/keyed/nothing/here    |     | error.status",
                "DELETE | /agents/keyed/.well-known/agent-card.json | | error.status",
            })
    @DisplayName("AV10: no address of the agent is open without its credentials, and each refuses in its own form")
    void everyAddressIsGuarded(String verb, String path, String version, String member) throws Exception {
        String[] headers = version == null ? new String[0] : new String[] {"A2A-Version", version};
        HttpResponse<String> refused = switch (verb) {
            case "POST" -> outsider.post(path, "{", headers); // which nobody reads
            case "GET" -> outsider.get(path, headers);
            default -> outsider.delete(path);
        };

        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.headers().firstValue("WWW-Authenticate")).isPresent();
        Shown body = Shown.of(refused.body());
        assertThat(body.at((Object[]) member.split("\\.", -1)).value())
                .as(refused.body())
                .isNotNull();
        assertThat(body.has("jsonrpc")).isEqualTo(member.equals("error.code"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/.well-known/agent-card.json",
                "/.well-known/agent.json",
                "/kernel/.well-known/agent.json",
                "/agentvault",
                "/agentvault/agent-card.json"
            })
    @DisplayName("AV10: cards are shown to everybody")
    void cardsAreShownToEverybody(String path) throws Exception {
        assertThat(outsider.get("/agents/keyed" + path).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    @DisplayName("AV10: calls of gRPC need the same credentials")
    void grpcIsGuarded(String version) {
        try (AgentClient nobody = AgentClient.builder()
                        .prefer(AgentCard.Interface.GRPC)
                        .version(version)
                        .connect(hub.agentUrl("keyed"));
                AgentClient alice = AgentClient.builder()
                        .prefer(AgentCard.Interface.GRPC)
                        .version(version)
                        .apiKey(ALICE)
                        .connect(hub.agentUrl("keyed"))) {
            assertThat(nobody.address().protocolBinding()).isEqualTo(AgentCard.Interface.GRPC);
            assertThatThrownBy(() -> nobody.send("hello")).isInstanceOfSatisfying(A2AException.class, refusal -> {
                assertThat(refusal.error()).isEqualTo(A2AError.UNAUTHENTICATED);
                assertThat(refusal.challenge()).contains("X-Api-Key");
            });
            assertThatThrownBy(() -> nobody.stream("hello")).isInstanceOf(A2AException.class);

            assertThat(((Task) alice.send("hello")).text()).isEqualTo("alice");
        }
    }

    @Test
    @DisplayName("AV10-AV12: cards of 1.0, 0.3 and before and of the Agentic Kernel ask for the same")
    void allCardsSayWhatIsNeeded() throws Exception {
        String any = "/agents/any";
        Shown card = Shown.of(outsider.get(any + "/.well-known/agent-card.json", "A2A-Version", "1.0")
                .body());
        Shown older = Shown.of(outsider.get(any + "/.well-known/agent-card.json", "A2A-Version", "0.3")
                .body());
        Shown first = Shown.of(outsider.get(any + "/.well-known/agent.json").body());
        Shown kernel =
                Shown.of(outsider.get(any + "/kernel/.well-known/agent.json").body());

        assertThat(card.at("securitySchemes").names())
                .containsExactly("parley", "parley.bearer", "parley.oauth2", "parley.oauth2.2");
        assertThat(card.at(
                                "securitySchemes",
                                "parley.oauth2",
                                "oauth2SecurityScheme",
                                "flows",
                                "clientCredentials",
                                "tokenUrl")
                        .text())
                .isEqualTo(hub.url() + "/oauth/token");
        assertThat(card.at("securitySchemes", "parley.oauth2.2", "oauth2SecurityScheme", "flows", "authorizationCode")
                        .at("authorizationUrl")
                        .text())
                .isEqualTo(hub.url() + "/oauth/authorize");
        assertThat(card.at("securityRequirements").size()).isEqualTo(4);
        assertThat(older.at("securitySchemes", "parley", "type").text()).isEqualTo("apiKey");
        assertThat(older.at("security").size()).isEqualTo(4);
        assertThat(first.at("authentication", "schemes").value()).isEqualTo(List.of("ApiKey", "Bearer", "OAuth2"));
        assertThat(kernel.at("authentication", "type").text()).isEqualTo("apiKey");
    }

    // ---- What callers see

    @Test
    @DisplayName("GEM24: tasks of one caller do not exist for another, in any dialect")
    void tasksBelongToTheirCallers() throws Exception {
        String id = outsider.result(vault("keyed"), "tasks/send", SEND, "X-Api-Key", ALICE)
                .at("id")
                .text();
        String get = "{'id':'" + id + "'}";

        assertThat(outsider.code(vault("keyed"), "tasks/get", get, "X-Api-Key", MALLORY))
                .isEqualTo(-32001);
        assertThat(outsider.code(vault("keyed"), "tasks/cancel", get, "X-Api-Key", MALLORY))
                .isEqualTo(-32001);
        assertThat(outsider.code("/agents/keyed", "GetTask", get, "X-Api-Key", MALLORY))
                .isEqualTo(-32001);
        assertThat(outsider.code("/agents/keyed/kernel", "tasks/get", get, "X-Api-Key", MALLORY))
                .isEqualTo(-32001);
        assertThat(outsider.result("/agents/keyed", "ListTasks", "{}", "X-Api-Key", MALLORY)
                        .at("totalSize")
                        .value())
                .isEqualTo(0);
        assertThat(outsider.result("/agents/keyed", "GetTask", get, "X-Api-Key", ALICE)
                        .at("id")
                        .text())
                .isEqualTo(id);
    }

    @Test
    @DisplayName("GEM20: what a payload says of its sender grants nothing")
    void onlyCredentialsSayWhoCalls() throws Exception {
        String id = outsider.result(
                        vault("keyed"),
                        "tasks/send",
                        "{'user':'mallory','message':{'role':'user','parts':[{'type':'text','content':'x'}],"
                                + "'metadata':{'caller':'mallory','owner':'mallory'}}}",
                        "X-Api-Key",
                        ALICE,
                        "X-User",
                        "mallory")
                .at("id")
                .text();

        assertThat(outsider.code(vault("keyed"), "tasks/get", "{'id':'" + id + "'}", "X-Api-Key", MALLORY))
                .isEqualTo(-32001);
    }

    @Test
    @DisplayName("AV10: files are fetched by their signed addresses, for which no key is needed")
    void signedAddressesNeedNoKey() throws Exception {
        Agent drawing = Agent.named("drawing", "Draws")
                .handle((request, reply) -> reply.complete(Part.file("a.bin", "image/png", new byte[] {0, 1, 2})));
        hub.host(drawing);
        String id;
        try (AgentClient alice = AgentClient.builder().apiKey(ALICE).connect(hub.agentUrl("drawing"))) {
            id = ((Task) alice.send("hello")).id();
        }
        String url = outsider.result(vault("drawing"), "tasks/get", "{'id':'" + id + "'}", "X-Api-Key", ALICE)
                .at("artifacts", 0, "url")
                .text();

        HttpResponse<String> file = outsider.get(url.replaceFirst("^http://localhost:\\d+", ""));

        assertThat(file.statusCode()).isEqualTo(200);
        assertThat(file.body()).isEqualTo("\u0000\u0001\u0002");
    }

    // ---- Our client

    private static KeyManager keys() {
        return KeyManager.builder()
                .environment(Map.of(
                        "AGENTVAULT_KEY_PARLEY", ALICE,
                        "AGENTVAULT_KEY_BOB", BOB,
                        "AGENTVAULT_OAUTH_SHOP_CLIENT_ID", "shop-client",
                        "AGENTVAULT_OAUTH_SHOP_CLIENT_SECRET", SECRET))
                .build();
    }

    @ParameterizedTest
    @CsvSource({
        "open,    parley, anonymous",
        "keyed,   parley, alice",
        "bearers, bob,    bob",
        "tokens,  shop,   shop",
        "any,     parley, alice",
        "any,     shop,   shop"
    })
    @DisplayName("AV09-AV12: our client is let in under all schemes, with its keys for the service")
    void ourClientIsLetIn(String agent, String service, String caller) {
        for (String dialect : List.of("/agentvault", "/kernel")) {
            if (agent.equals("any") && service.equals("shop") && dialect.equals("/kernel")) {
                continue; // its card has room for one scheme, and that is another one here
            }
            try (AgentClient client =
                    AgentClient.builder().keys(keys(), service).connect(hub.agentUrl(agent) + dialect)) {
                assertThat(((Task) client.send("hello")).text()).as(dialect).isEqualTo(caller);
            }
        }
        for (String binding : List.of("JSONRPC", "HTTP+JSON", "GRPC")) {
            for (String version : List.of("1.0", "0.3")) {
                try (AgentClient client = AgentClient.builder()
                        .keys(keys(), service)
                        .prefer(binding)
                        .version(version)
                        .connect(hub.agentUrl(agent))) {
                    assertThat(((Task) client.send("hello")).text())
                            .as(binding + " " + version)
                            .isEqualTo(caller);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"keyed, alice", "bearers, bob", "tokens, shop"})
    @DisplayName(
            "AV22: the service_identifier of a card chooses the key where the user allows its origin, and only there")
    void aCardChoosesTheKeyOnlyWhereItsOriginIsAllowed(String agent, String caller) {
        KeyManager keys = KeyManager.builder()
                .environment(Map.of(
                        "AGENTVAULT_KEY_PARLEY",
                        agent.equals("keyed") ? ALICE : BOB,
                        "AGENTVAULT_OAUTH_PARLEY_CLIENT_ID",
                        "shop-client",
                        "AGENTVAULT_OAUTH_PARLEY_CLIENT_SECRET",
                        SECRET))
                .build();
        String card = hub.agentUrl(agent) + "/agentvault";

        try (AgentClient client =
                AgentClient.builder().keys(keys).keyOrigin("Parley", hub.url()).connect(card)) {
            assertThat(((Task) client.send("hello")).text()).isEqualTo(caller);
        }
        for (String service : List.of("parley", "other")) {
            String origin = service.equals("parley") ? "https://agents.example.com" : hub.url();
            try (AgentClient client =
                    AgentClient.builder().keys(keys).keyOrigin(service, origin).connect(card)) {
                assertThatThrownBy(() -> client.send("hello"))
                        .isInstanceOfSatisfying(
                                A2AException.class,
                                refusal -> assertThat(refusal.error()).isEqualTo(A2AError.UNAUTHENTICATED));
            }
        }
    }

    // ---- The hub

    @Test
    void tokensOutliveARestartAndTheirKeyIsReadByTheHubAlone(@TempDir Path data) throws Exception {
        String token;
        int port;
        try (Hub first = hub().data(data).start()) {
            port = URI.create(first.url()).getPort();
            token = token(first, "shop-client");
        }

        try (Hub second = hub().data(data).port(port).start()) {
            HttpResponse<String> answer = new Outsider(second.url())
                    .post(
                            vault("tokens"),
                            "{'jsonrpc':'2.0','id':1,'method':'tasks/send','params':" + SEND + "}",
                            "Authorization",
                            "Bearer " + token);
            assertThat(answer.statusCode()).isEqualTo(200);
        }
        assertThat(Files.getPosixFilePermissions(data.resolve("token.secret")))
                .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    }

    @Test
    @DisplayName("S24: operators' addresses need the scope admin")
    void operatorsHaveAScope() throws Exception {
        assertThat(outsider.get("/admin/webhooks/dead").statusCode()).isEqualTo(401);
        assertThat(outsider.get("/admin/webhooks/dead", "X-Api-Key", ALICE).statusCode())
                .isEqualTo(403);
        assertThat(outsider.get("/admin/webhooks/dead", "Authorization", "Bearer " + token("operator-client"))
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    @DisplayName("S16, AV01: other machines are let in with authentication for every agent, and TLS")
    void addressesThatOthersReachNeedAuthenticationAndTls() {
        assertThatThrownBy(() -> hub().inMemory().bind("0.0.0.0").start())
                .hasMessageContaining("authentication for every agent");
        assertThatThrownBy(() -> hub().inMemory()
                        .authentication("open", Authentication.of(Scheme.API_KEY))
                        .bind("0.0.0.0")
                        .start())
                .hasMessageContaining("without TLS");
        assertThatThrownBy(() -> hub().inMemory()
                        .adminPort(0)
                        .set("admin-bind", "0.0.0.0")
                        .start())
                .hasMessageContaining("admin bind: 0.0.0.0")
                .hasMessageContaining("authentication for every agent");
    }
}
