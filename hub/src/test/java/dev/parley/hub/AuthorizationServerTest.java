package dev.parley.hub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.support.Sha256;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Users who sign in at the hub through a client, as a client and a browser see it. */
@Timeout(60)
@Tag("heavy")
final class AuthorizationServerTest {
    private static final String KEY = "key-of-the-operator-1";
    private static final String ALICE = "key-of-alice-1234567";
    private static final String KIOSK = "key-of-the-kiosk-12345";
    private static final String REDIRECT = "http://127.0.0.1:33418/callback";
    private static final String VERIFIER = "a-verifier-of-forty-three-characters-or-more-1";
    private static final String CHALLENGE =
            Base64.getUrlEncoder().withoutPadding().encodeToString(Sha256.of(VERIFIER));

    @TempDir
    private Path data;

    private final HttpClient http = HttpClient.newHttpClient();
    private Hub hub;
    private Outsider outsider;

    private HubBuilder builder() {
        return Hub.builder()
                .port(0)
                .data(data)
                .agents(
                        Agent.named("echo", "Tells its caller")
                                .handle((request, reply) ->
                                        reply.complete(request.context().caller())),
                        Agent.named("open", "Needs no scope").handle((request, reply) -> reply.complete("in")),
                        Agent.named("guarded", "Needs a scope").handle((request, reply) -> reply.complete("in")))
                .callers(Callers.builder()
                        .apiKey("operator", KEY)
                        .scopes("operator", List.of("admin", "tasks"))
                        .apiKey("alice", ALICE)
                        .scopes("alice", List.of("tasks", "files"))
                        .apiKey("kiosk", KIOSK)
                        .scopes("kiosk", List.of("tasks", "agent:echo"))
                        .build())
                .authentication(Authentication.named(List.of("required")))
                .authentication("guarded", Authentication.of(Scheme.BEARER).withScopes(List.of("files")));
    }

    @BeforeEach
    void start() {
        hub = builder().start();
        outsider = new Outsider(hub.url());
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    // ---- Steps of a client

    private Shown register(String method, String... redirects) throws Exception {
        var uris = Arrays.stream(redirects).map(uri -> "'" + uri + "'").collect(Collectors.joining(","));
        HttpResponse<String> answer = outsider.post(
                "/oauth/register",
                "{'client_name':'Inspector <b>','redirect_uris':[" + uris + "],'token_endpoint_auth_method':'" + method
                        + "','grant_types':['authorization_code','refresh_token'],'response_types':['code']}");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        return Shown.of(answer.body());
    }

    private String client() throws Exception {
        return String.valueOf(register("none", REDIRECT).at("client_id").value());
    }

    private static Map<String, String> asked(String client) {
        var asked = new LinkedHashMap<String, String>();
        asked.put("response_type", "code");
        asked.put("client_id", client);
        asked.put("redirect_uri", REDIRECT);
        asked.put("code_challenge", CHALLENGE);
        asked.put("code_challenge_method", "S256");
        asked.put("state", "s &<1>");
        return asked;
    }

    private static String encoded(Map<String, String> form) {
        return form.entrySet().stream()
                .map(member -> member.getKey() + "=" + URLEncoder.encode(member.getValue(), UTF_8))
                .collect(Collectors.joining("&"));
    }

    private HttpResponse<String> page(Map<String, String> asked) throws Exception {
        return outsider.get("/oauth/authorize?" + encoded(asked), "Accept", "text/html");
    }

    private HttpResponse<String> form(String path, Map<String, String> form, String... headers) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(encoded(form)));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> decide(Map<String, String> asked, String key, String decision) throws Exception {
        var form = new LinkedHashMap<>(asked);
        form.put("key", key);
        form.put("decision", decision);
        return form("/oauth/authorize", form);
    }

    private static Map<String, String> back(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(303);
        String location = answer.headers().firstValue("Location").orElseThrow();
        assertThat(location).startsWith(REDIRECT + "?");
        var members = new TreeMap<String, String>();
        for (String pair : location.substring(location.indexOf('?') + 1).split("&", -1)) {
            String[] parts = pair.split("=", 2);
            members.put(parts[0], URLDecoder.decode(parts[1], UTF_8));
        }
        return members;
    }

    private String code(Map<String, String> asked, String key) throws Exception {
        return requireNonNull(back(decide(asked, key, "allow")).get("code"));
    }

    private HttpResponse<String> redeem(String client, String code, String verifier) throws Exception {
        return form(
                "/oauth/token",
                Map.of(
                        "grant_type",
                        "authorization_code",
                        "client_id",
                        client,
                        "code",
                        code,
                        "redirect_uri",
                        REDIRECT,
                        "code_verifier",
                        verifier));
    }

    private HttpResponse<String> refresh(String client, String token) throws Exception {
        return form("/oauth/token", Map.of("grant_type", "refresh_token", "client_id", client, "refresh_token", token));
    }

    private static String member(HttpResponse<String> answer, String name) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return String.valueOf(Shown.of(answer.body()).at(name).value());
    }

    private int call(String agent, String token) throws Exception {
        return outsider.post(
                        "/agents/" + agent + "/message:send",
                        "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'go'}]}}",
                        "A2A-Version",
                        "1.0",
                        "Authorization",
                        "Bearer " + token)
                .statusCode();
    }

    // ---- Tests

    @Test
    @DisplayName("K3 the metadata names all that clients need, from the resource on")
    void metadata() throws Exception {
        Shown resource = Shown.of(outsider.get("/.well-known/oauth-protected-resource/agents/echo")
                .body());
        Shown server =
                Shown.of(outsider.get("/.well-known/oauth-authorization-server").body());

        assertThat(resource.at("authorization_servers").text()).contains(hub.url());
        assertThat(server.at("issuer").value()).isEqualTo(hub.url());
        assertThat(server.at("authorization_endpoint").value()).isEqualTo(hub.url() + "/oauth/authorize");
        assertThat(server.at("registration_endpoint").value()).isEqualTo(hub.url() + "/oauth/register");
        assertThat(server.at("response_types_supported").text()).contains("code");
        assertThat(server.at("code_challenge_methods_supported").text())
                .contains("S256")
                .doesNotContain("plain");
        assertThat(server.at("grant_types_supported").text()).contains("authorization_code", "refresh_token");
        assertThat(server.at("authorization_response_iss_parameter_supported").value())
                .isEqualTo(true);
    }

    @Test
    @DisplayName(
            "GEM34 K3 a user signs in with a key of the configuration or of the directory, and calls agents with its scopes")
    void signIn() throws Exception {
        String bob = member(
                outsider.post(
                        "/admin/keys", "{'group':'default','principal':'bob','scopes':['files']}", "X-Api-Key", KEY),
                "key");
        for (String key : List.of(ALICE, bob)) {
            String client = client();

            Map<String, String> back = back(decide(asked(client), key, "allow"));
            HttpResponse<String> tokens = redeem(client, requireNonNull(back.get("code")), VERIFIER);

            assertThat(back).containsEntry("iss", hub.url()).containsEntry("state", "s &<1>");
            assertThat(tokens.headers().firstValue("Cache-Control")).contains("no-store");
            assertThat(member(tokens, "token_type")).isEqualTo("Bearer");
            String token = member(tokens, "access_token");
            assertThat(call("echo", token)).isEqualTo(200);
            assertThat(call("guarded", token)).isEqualTo(200);
            assertThat(call("echo", member(refresh(client, member(tokens, "refresh_token")), "access_token")))
                    .isEqualTo(200);
        }
    }

    @Test
    @DisplayName("GEM06 cards declare both flows of the hub, the code flow with its addresses")
    void flows() throws Exception {
        try (Hub oauth = builder()
                .inMemory()
                .authentication(Authentication.of(Scheme.OAUTH2))
                .callers(Callers.builder()
                        .apiKey("alice", ALICE)
                        .oauthClient("shop", "shop", "secret-of-the-shop-1")
                        .build())
                .start()) {
            String card = new Outsider(oauth.url())
                    .get("/agents/echo/.well-known/agent-card.json", "A2A-Version", "1.0")
                    .body();

            assertThat(card)
                    .contains(
                            "clientCredentials",
                            "authorizationCode",
                            oauth.url() + "/oauth/authorize",
                            "\"pkceRequired\":true");
        }
    }

    @ParameterizedTest
    @DisplayName("GEM06 each flow of OAuth can be declared by a setting; others are refused with what would do")
    @CsvSource({
        "authorizationCode=https://login.example.com/a+https://login.example.com/t, authorizationUrl",
        "deviceCode=https://login.example.com/d+https://login.example.com/t, deviceAuthorizationUrl",
        "clientCredentials=https://login.example.com/t, clientCredentials",
        "implicit=https://login.example.com/a, implicit",
        "password=https://login.example.com/t, password"
    })
    void flowsOfIssuers(String setting, String member) throws Exception {
        HubBuilder issuing = builder()
                .inMemory()
                .authentication(Authentication.of(Scheme.OPEN_ID))
                .issuer("https://login.example.com");
        try (Hub oauth = issuing.set("oauth-flow", setting).start()) {
            assertThat(new Outsider(oauth.url())
                            .get("/agents/echo/.well-known/agent-card.json", "A2A-Version", "1.0")
                            .body())
                    .contains(member, "https://login.example.com/");
        }
        assertThatThrownBy(() -> builder()
                        .inMemory()
                        .set("oauth-flow", setting.replace("https", "nothing"))
                        .start())
                .hasMessageContaining("oauth-flow");
        assertThatThrownBy(() -> builder()
                        .inMemory()
                        .set("oauth-flow", "magic=https://login.example.com/")
                        .start())
                .hasMessageContaining("expected: authorizationCode");
    }

    @Test
    @DisplayName("K3 a sign-in outlives a restart; disabling the user and revoking the key end its tokens")
    void ends() throws Exception {
        HttpResponse<String> key = outsider.post(
                "/admin/keys", "{'group':'default','principal':'bob','scopes':['files']}", "X-Api-Key", KEY);
        String client = client();
        HttpResponse<String> tokens = redeem(client, code(asked(client), member(key, "key")), VERIFIER);
        int port = URI.create(hub.url()).getPort();
        hub.close();
        hub = builder().port(port).start();

        String token = member(refresh(client, member(tokens, "refresh_token")), "access_token");
        assertThat(call("echo", token)).isEqualTo(200);
        assertThat(call("echo", member(tokens, "access_token"))).isEqualTo(200);

        String id = member(key, "id");
        assertThat(outsider.post("/admin/keys/" + id + "/revoke", "{}", "X-Api-Key", KEY)
                        .statusCode())
                .isEqualTo(200);
        assertThat(call("echo", token)).isEqualTo(401);
    }

    @Test
    @DisplayName("K3 only requested scopes are granted, and those of administration only if they are requested")
    void scopes() throws Exception {
        String client = client();
        Map<String, String> asked = asked(client);
        assertThat(member(redeem(client, code(asked, KEY), VERIFIER), "scope")).isEqualTo("tasks");

        asked.put("scope", "tasks unknown");
        HttpResponse<String> narrow = redeem(client, code(asked, ALICE), VERIFIER);
        assertThat(member(narrow, "scope")).isEqualTo("tasks");
        assertThat(call("guarded", member(narrow, "access_token"))).isEqualTo(403);

        asked.put("scope", "admin");
        String token = member(redeem(client, code(asked, KEY), VERIFIER), "access_token");
        assertThat(outsider.get("/admin/audit", "Authorization", "Bearer " + token)
                        .statusCode())
                .isEqualTo(200);
        assertThat(member(redeem(client, code(asked, ALICE), VERIFIER), "scope"))
                .isEmpty();
    }

    @Test
    @DisplayName("S8 a token of a key that is limited to agents is limited to them, whatever scopes are requested")
    void limits() throws Exception {
        String client = client();
        for (String scope : List.of("", "tasks", "unknown", "agent:guarded")) {
            Map<String, String> asked = asked(client);
            if (!scope.isEmpty()) {
                asked.put("scope", scope);
            }
            HttpResponse<String> redeemed = redeem(client, code(asked, KIOSK), VERIFIER);
            String refreshed = member(refresh(client, member(redeemed, "refresh_token")), "access_token");

            assertThat(member(redeemed, "scope")).as(scope).contains("agent:echo");
            for (String token : List.of(member(redeemed, "access_token"), refreshed)) {
                assertThat(call("echo", token)).as(scope).isEqualTo(200);
                assertThat(call("guarded", token)).as(scope).isIn(403, 404);
                assertThat(call("open", token)).as(scope).isEqualTo(404);
            }
        }
    }

    @Test
    @DisplayName("S8 a token for an agent is good there only, one for another address of the hub at all agents")
    void resources() throws Exception {
        String client = client();
        Map<String, String> asked = asked(client);
        asked.put("resource", hub.url() + "/agents/echo");
        String token = member(redeem(client, code(asked, ALICE), VERIFIER), "access_token");

        assertThat(new String(Base64.getUrlDecoder().decode(token.split("\\.", -1)[1]), UTF_8))
                .contains("\"aud\":\"" + hub.url() + "/agents/echo\"");
        assertThat(call("echo", token)).isEqualTo(200);
        assertThat(call("guarded", token)).isEqualTo(401);
        asked.put("resource", hub.url() + "/mcp");
        String ofAll = member(redeem(client, code(asked, ALICE), VERIFIER), "access_token");
        assertThat(call("echo", ofAll)).isEqualTo(200);
        assertThat(call("guarded", ofAll)).isEqualTo(200);
        for (String foreign : List.of("https://elsewhere.example", hub.url() + ".evil.example", hub.url() + "/../x")) {
            asked.put("resource", foreign);
            assertThat(back(page(asked))).containsEntry("error", "invalid_target");
        }
    }

    @Test
    @DisplayName("S127 a code is good once; when it comes again, its tokens end")
    void codeTwice() throws Exception {
        String client = client();
        String code = code(asked(client), ALICE);
        HttpResponse<String> tokens = redeem(client, code, VERIFIER);
        assertThat(call("echo", member(tokens, "access_token"))).isEqualTo(200);

        assertThat(redeem(client, code, VERIFIER).body()).contains("invalid_grant");

        assertThat(call("echo", member(tokens, "access_token"))).isEqualTo(401);
        assertThat(refresh(client, member(tokens, "refresh_token")).statusCode())
                .isEqualTo(400);
    }

    @Test
    @DisplayName("S127 a code with another verifier, client or address is refused, and gone")
    void codeOfOthers() throws Exception {
        String client = client();
        for (String wrong : List.of("verifier", "client", "redirect", "code")) {
            String code = code(asked(client), ALICE);
            var form = new LinkedHashMap<>(Map.of(
                    "grant_type",
                    "authorization_code",
                    "client_id",
                    wrong.equals("client")
                            ? String.valueOf(register("none", REDIRECT, "https://x.example/")
                                    .at("client_id")
                                    .value())
                            : client,
                    "code",
                    wrong.equals("code") ? code.substring(1) : code,
                    "redirect_uri",
                    wrong.equals("redirect") ? "http://127.0.0.1:1/callback" : REDIRECT,
                    "code_verifier",
                    wrong.equals("verifier") ? VERIFIER + "x" : VERIFIER));

            assertThat(form("/oauth/token", form).body()).as(wrong).contains("invalid_grant");

            if (!wrong.equals("code")) {
                assertThat(redeem(client, code, VERIFIER).body()).as(wrong).contains("invalid_grant");
            }
        }
    }

    @Test
    @DisplayName("S127 a refresh token is good once, and for its client only")
    void refreshTwice() throws Exception {
        String client = client();
        HttpResponse<String> tokens = redeem(client, code(asked(client), ALICE), VERIFIER);
        String first = member(tokens, "refresh_token");
        String stranger = String.valueOf(
                register("none", "https://other.example/cb").at("client_id").value());
        assertThat(refresh(stranger, first).body()).contains("invalid_grant");
        String second = member(refresh(client, first), "refresh_token");

        assertThat(refresh(client, first).body()).contains("invalid_grant");
        assertThat(refresh(client, second + "x").body()).contains("invalid_grant");
        assertThat(member(refresh(client, second), "refresh_token")).isNotEqualTo(second);
    }

    @Test
    @DisplayName("S127 a client with a secret has to send it, in the header or the form")
    void secrets() throws Exception {
        Shown registered = register("client_secret_basic", REDIRECT);
        String client = String.valueOf(registered.at("client_id").value());
        String secret = String.valueOf(registered.at("client_secret").value());
        String code = code(asked(client), ALICE);

        HttpResponse<String> without = redeem(client, code, VERIFIER);
        assertThat(without.statusCode()).isEqualTo(401);
        assertThat(without.body()).contains("invalid_client");
        HttpResponse<String> tokens = form(
                "/oauth/token",
                Map.of(
                        "grant_type",
                        "authorization_code",
                        "code",
                        code,
                        "redirect_uri",
                        REDIRECT,
                        "code_verifier",
                        VERIFIER),
                "Authorization",
                "Basic " + Base64.getEncoder().encodeToString((client + ":" + secret).getBytes(US_ASCII)));
        assertThat(member(tokens, "access_token")).isNotEmpty();
    }

    @Test
    @DisplayName("S127 the page cannot be framed, runs no script, keeps markup of the client as text, and is not kept")
    void consentPage() throws Exception {
        Map<String, String> asked = asked(client());
        asked.put("state", "\"><script>alert(1)</script>");

        HttpResponse<String> page = page(asked);

        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body())
                .contains("Inspector &lt;b&gt;", REDIRECT, "type=\"password\"")
                .doesNotContain("<script", "<b>");
        assertThat(page.headers().firstValue("X-Frame-Options")).contains("DENY");
        assertThat(page.headers().firstValue("Cache-Control")).contains("no-store");
        assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
                .contains("default-src 'none'", "frame-ancestors 'none'", "form-action 'self' http://127.0.0.1:33418")
                .doesNotContain("script-src", "unsafe");
    }

    @Test
    @DisplayName("S127 a decision is that of the user: by its key, from the page of the hub")
    void decisions() throws Exception {
        Map<String, String> asked = asked(client());

        assertThat(back(decide(asked, "", "deny")))
                .containsEntry("error", "access_denied")
                .containsKey("iss");
        assertThat(decide(asked, "no-key-of-anybody", "allow").statusCode()).isEqualTo(403);
        assertThat(decide(asked, "", "allow").statusCode()).isEqualTo(403);
        var form = new LinkedHashMap<>(asked);
        form.put("key", ALICE);
        form.put("decision", "allow");
        assertThat(form("/oauth/authorize", form, "Origin", "https://evil.example")
                        .statusCode())
                .isEqualTo(403);
        int last = 0;
        for (int i = 0; i < 10; i++) {
            last = decide(asked, "no-key-of-anybody", "allow").statusCode();
        }
        assertThat(last).isEqualTo(429);
    }

    @Test
    @DisplayName("a decision counts as a call of its user")
    void decisionsAreLimited() throws Exception {
        Path policy = Files.writeString(data.resolve("limits.json"), "{\"limits\":{\"principal\":{\"perDay\":2}}}");
        hub.close();
        hub = builder().set("policy", policy.toString()).start();
        outsider = new Outsider(hub.url());
        Map<String, String> asked = asked(client());

        assertThat(back(decide(asked, ALICE, "allow"))).containsKey("code");
        assertThat(back(decide(asked, ALICE, "allow"))).containsKey("code");
        assertThat(decide(asked, ALICE, "allow").statusCode()).isEqualTo(429);
        assertThat(back(decide(asked, KEY, "allow"))).containsKey("code");
    }

    @ParameterizedTest
    @DisplayName("S127 an address that is not registered is never returned to")
    @ValueSource(
            strings = {
                "https://evil.example/callback",
                "http://127.0.0.1:33418/other",
                "http://127.0.0.1:33418/callback?more=1",
                "http://127.0.0.1:33418/callback#part",
                "http://user@127.0.0.1:33418/callback",
                "http://localhost:33418/callback",
                "http://127.0.0.1.evil.example/callback",
                "http://127.0.0.1:33418/callback/../evil",
                "javascript:alert(1)"
            })
    void redirects(String redirect) throws Exception {
        Map<String, String> asked = asked(client());
        asked.put("redirect_uri", redirect);

        HttpResponse<String> page = page(asked);

        assertThat(page.statusCode()).isEqualTo(400);
        assertThat(page.headers().firstValue("Location")).isEmpty();
        assertThat(decide(asked, ALICE, "allow").statusCode()).isEqualTo(400);
    }

    @Test
    @DisplayName("S127 a program on this machine may listen at another port")
    void loopbackPorts() throws Exception {
        Map<String, String> asked = asked(client());
        asked.put("redirect_uri", "http://127.0.0.1:50000/callback");

        assertThat(page(asked).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @DisplayName("S127 other errors go back to the client, with state and issuer")
    @CsvSource({
        "code_challenge_method, plain, invalid_request",
        "code_challenge, short, invalid_request",
        "response_type, token, unsupported_response_type",
        "scope, 'a\"b', invalid_scope"
    })
    void errors(String parameter, String value, String error) throws Exception {
        Map<String, String> asked = asked(client());
        asked.put(parameter, value);

        assertThat(back(page(asked)))
                .containsEntry("error", error)
                .containsEntry("state", "s &<1>")
                .containsEntry("iss", hub.url());
        asked.remove(parameter);
        if (!parameter.equals("scope")) {
            assertThat(back(page(asked))).containsKey("error");
        }
    }

    @ParameterizedTest
    @DisplayName("S127 registrations with addresses that a browser must not open are refused")
    @ValueSource(
            strings = {
                "http://evil.example/cb",
                "javascript:alert(1)",
                "javascript://x/%0aalert(1)",
                "data:text/html,x",
                "https://x.example/cb#f",
                "https://user:pw@x.example/",
                "/relative",
                "https:///no-host",
                "myapp:code",
                "https://x.example/ü",
                ""
            })
    void badRegistrations(String redirect) throws Exception {
        HttpResponse<String> answer =
                outsider.post("/oauth/register", "{'client_name':'x','redirect_uris':['" + redirect + "']}");

        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("invalid_redirect_uri");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://app.example.com/cb",
                "cursor://anysphere.cursor/oauth/cb",
                "com.example.app:/cb",
                "http://localhost:1/cb"
            })
    @DisplayName("K3 programs of every kind register")
    void registrations(String redirect) throws Exception {
        assertThat(register("none", redirect).at("redirect_uris").text()).contains(redirect);
    }

    @Test
    @DisplayName("S127 a changed registration is not accepted; one of another kind is refused")
    void forgedRegistrations() throws Exception {
        Map<String, String> asked = asked(client());
        String forged = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(
                        "{\"n\":\"x\",\"r\":[\"https://evil.example\"],\"m\":\"none\",\"t\":0}".getBytes(UTF_8));
        String client = requireNonNull(asked.get("client_id"));
        asked.put("client_id", forged + client.substring(client.indexOf('.')));
        asked.put("redirect_uri", "https://evil.example");
        assertThat(page(asked).statusCode()).isEqualTo(400);

        for (String body : List.of(
                "[]",
                "{'redirect_uris':'https://x.example'}",
                "{'redirect_uris':['https://x.example'],'grant_types':['implicit']}",
                "{'redirect_uris':['https://x.example'],'token_endpoint_auth_method':'private_key_jwt'}",
                "{'redirect_uris':['https://x.example'],'response_types':['token']}")) {
            assertThat(outsider.post("/oauth/register", body).statusCode())
                    .as(body)
                    .isEqualTo(400);
        }
    }

    @Test
    @DisplayName("S78 the database has no code and no token")
    void database() throws Exception {
        String client = client();
        String code = code(asked(client), ALICE);
        HttpResponse<String> tokens = redeem(client, code, VERIFIER);
        String refresh = member(tokens, "refresh_token");
        hub.close();

        try (var files = Files.list(data)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain(code, refresh, code.substring(code.indexOf('.') + 1));
            }
        }
        hub = builder().start();
    }
}
