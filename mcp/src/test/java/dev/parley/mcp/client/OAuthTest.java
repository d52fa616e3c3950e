package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.mcp.client.OAuth.Registration;
import dev.parley.mcp.client.ServerFailure.Kind;
import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Trees;
import dev.parley.outbound.http.Http1Client;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tokens from an authorization server whose metadata and answers the tests choose. */
@Timeout(60)
class OAuthTest {
    private static final String REDIRECT = "http://localhost:3000/callback";
    private static final String GRANTED = "{\"access_token\":\"t1\",\"token_type\":\"Bearer\"}";

    /** A request to the token endpoint, with its header Authorization. */
    private record Asked(String text, @Nullable String authorization) {
        Map<String, String> form() {
            return parameters(text);
        }
    }

    private final Queue<Asked> asked = new ConcurrentLinkedQueue<>();
    private final Queue<String> tokens = new ArrayDeque<>(List.of(GRANTED));
    private final Map<String, @Nullable Object> resource = new LinkedHashMap<>();
    private final Map<String, @Nullable Object> issuer = new LinkedHashMap<>();

    private HttpServer server;
    private HttpClient http;
    private String origin;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        origin = "http://127.0.0.1:" + server.getAddress().getPort();
        resource.putAll(new RawJson()
                .with("resource", origin + "/mcp")
                .with("authorization_servers", List.of(origin))
                .with("scopes_supported", List.of("a", "b")));
        issuer.putAll(new RawJson()
                .with("issuer", origin)
                .with("token_endpoint", origin + "/token")
                .with("authorization_endpoint", origin + "/authorize")
                .with("registration_endpoint", origin + "/register")
                .with("code_challenge_methods_supported", List.of("S256")));
        server.createContext(
                "/.well-known/oauth-protected-resource", exchange -> answer(exchange, 200, json(resource)));
        server.createContext(
                "/.well-known/oauth-authorization-server", exchange -> answer(exchange, 200, json(issuer)));
        server.createContext(
                "/register",
                exchange -> answer(
                        exchange, 201, "{\"client_id\":\"registered\",\"token_endpoint_auth_method\":\"none\"}"));
        server.createContext("/token", exchange -> {
            asked.add(new Asked(
                    new String(exchange.getRequestBody().readAllBytes(), UTF_8),
                    exchange.getRequestHeaders().getFirst("Authorization")));
            String token = tokens.remove();
            answer(exchange, token.contains("error") ? 400 : 200, token);
        });
        server.start();
        http = Http1Client.of(Duration.ofSeconds(5), null);
    }

    @AfterEach
    void stop() {
        http.shutdownNow();
        server.stop(0);
    }

    private static String json(Map<String, @Nullable Object> document) {
        return new String(JsonText.write(Codecs.STRUCT, document), UTF_8);
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        try (exchange) {
            byte[] bytes = body.getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private static Map<String, String> parameters(String form) {
        var parameters = new LinkedHashMap<String, String>();
        for (String pair : form.split("&", -1)) {
            int equals = pair.indexOf('=');
            parameters.put(pair.substring(0, equals), URLDecoder.decode(pair.substring(equals + 1), UTF_8));
        }
        return parameters;
    }

    private OAuth oauth(Registration registration) {
        return new OAuth(URI.create(origin + "/mcp"), http, registration);
    }

    private OAuth credentials() {
        return oauth(Registration.credentials("me & co", "s3cret+", null));
    }

    private OAuth consented(OAuth.Consent consent) {
        return oauth(new Registration(null, null, null, null, null, REDIRECT, consent));
    }

    /** The refusal of a request with the last token. */
    private static boolean renew(OAuth oauth) throws IOException, InterruptedException {
        return oauth.renew(
                401,
                HttpHeaders.of(Map.of("WWW-Authenticate", List.of("Bearer")), (name, value) -> true),
                oauth.authorization());
    }

    private static ServerFailure refusal(OAuth oauth) {
        return catchThrowableOfType(ServerFailure.class, () -> renew(oauth));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, UTF_8);
    }

    @Test
    void aClientWithASecretAuthenticatesInTheHeader() throws Exception {
        OAuth oauth = credentials();

        assertThat(oauth.authorization()).isEmpty();
        assertThat(renew(oauth)).isTrue();

        assertThat(oauth.authorization()).contains("Bearer t1");
        String pair = Base64.getEncoder().encodeToString("me+%26+co:s3cret%2B".getBytes(US_ASCII));
        assertThat(asked)
                .containsExactly(new Asked(
                        "resource=" + encoded(origin + "/mcp") + "&grant_type=client_credentials&scope=a+b",
                        "Basic " + pair));
    }

    @Test
    void aClientWithASecretAuthenticatesInTheFormIfTheServerTakesNoHeader() throws Exception {
        issuer.put("token_endpoint_auth_methods_supported", List.of("client_secret_post"));

        renew(credentials());

        assertThat(asked)
                .containsExactly(new Asked(
                        "resource=" + encoded(origin + "/mcp") + "&grant_type=client_credentials&scope=a+b"
                                + "&client_id=me+%26+co&client_secret=s3cret%2B",
                        null));
    }

    @Test
    void aClientWithAKeySignsAnAssertion() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair keys = generator.generateKeyPair();
        String pem = "-----BEGIN PRIVATE KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(keys.getPrivate().getEncoded())
                + "\n-----END PRIVATE KEY-----\n";
        long now = Instant.now().getEpochSecond();

        renew(oauth(new Registration("me", null, pem, "c", null, "", null)));

        Map<String, String> form = asked.remove().form();
        assertThat(form)
                .containsEntry("scope", "c")
                .containsEntry("client_id", "me")
                .containsEntry("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
                .doesNotContainKey("client_secret");
        String[] parts = String.valueOf(form.get("client_assertion")).split("\\.", -1);
        assertThat(new String(Base64.getUrlDecoder().decode(parts[0]), UTF_8))
                .isEqualTo("{\"alg\":\"ES256\",\"typ\":\"JWT\"}");
        Map<String, @Nullable Object> claims =
                JsonText.read(Base64.getUrlDecoder().decode(parts[1]), Codecs.STRUCT);
        assertThat(claims)
                .containsEntry("iss", "me")
                .containsEntry("sub", "me")
                .containsEntry("aud", origin)
                .containsKey("jti");
        assertThat(Trees.number(claims, "iat", 0)).isBetween(now, now + 60);
        assertThat(Trees.number(claims, "exp", 0)).isEqualTo(Trees.number(claims, "iat", 0) + 300);
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initVerify(keys.getPublic());
        signature.update((parts[0] + "." + parts[1]).getBytes(US_ASCII));
        assertThat(signature.verify(Base64.getUrlDecoder().decode(parts[2]))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no key", "AAAA"})
    void aKeyThatIsNoneIsRefused(String pem) {
        ServerFailure refusal = refusal(oauth(new Registration("me", null, pem, null, null, "", null)));

        assertThat(refusal.kind()).isEqualTo(Kind.UNAUTHORIZED);
        assertThat(refusal)
                .hasMessage("private key of the client: unusable (expected: PKCS #8 of P-256)")
                .hasCauseInstanceOf(Exception.class);
    }

    @Test
    void aPersonConsentsAndTheVerifierProvesWhoAsked() throws Exception {
        var query = new LinkedHashMap<String, String>();
        issuer.put("authorization_endpoint", origin + "/authorize?tenant=1");
        issuer.put("scopes_supported", List.of("offline_access"));

        OAuth oauth = consented(address -> {
            query.putAll(parameters(address.getRawQuery()));
            return URI.create(REDIRECT + "?code=c%2B1&iss=" + encoded(origin) + "&state=" + query.get("state"));
        });
        renew(oauth);

        assertThat(query)
                .containsEntry("tenant", "1")
                .containsEntry("response_type", "code")
                .containsEntry("client_id", "registered")
                .containsEntry("redirect_uri", REDIRECT)
                .containsEntry("code_challenge_method", "S256")
                .containsEntry("resource", origin + "/mcp")
                .containsEntry("scope", "a b offline_access")
                .containsEntry("prompt", "consent");
        Map<String, String> form = asked.remove().form();
        assertThat(form)
                .containsEntry("resource", origin + "/mcp")
                .containsEntry("grant_type", "authorization_code")
                .containsEntry("code", "c+1")
                .containsEntry("redirect_uri", REDIRECT)
                .containsEntry("client_id", "registered")
                .containsOnlyKeys("resource", "grant_type", "code", "redirect_uri", "client_id", "code_verifier");
        String verifier = String.valueOf(form.get("code_verifier"));
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(US_ASCII));
        assertThat(verifier).matches("[A-Za-z0-9_-]{43}").isNotEqualTo(query.get("state"));
        assertThat(query)
                .containsEntry(
                        "code_challenge",
                        Base64.getUrlEncoder().withoutPadding().encodeToString(hash));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "code=c&state=guessed|the state of the authorization is another one",
                "code=c|the state of the authorization is another one",
                "code=c&state=@STATE@&iss=other|iss \"other\" of the authorization (expected: @ORIGIN@)",
                "error=access_denied&state=@STATE@|no authorization: access_denied",
                "state=@STATE@|no authorization: no code"
            })
    void anAuthorizationOfAnotherRequestIsRefused(String answer, String problem) {
        ServerFailure refusal = refusal(consented(address -> URI.create(REDIRECT + "?"
                + answer.replace(
                        "@STATE@",
                        String.valueOf(parameters(address.getRawQuery()).get("state"))))));

        assertThat(refusal.kind()).isEqualTo(Kind.UNAUTHORIZED);
        assertThat(refusal).hasMessage(problem.replace("@ORIGIN@", origin));
        assertThat(asked).isEmpty();
    }

    @Test
    void anAuthorizationWithoutItsIssuerIsRefusedIfTheServerNamesItself() {
        issuer.put("authorization_response_iss_parameter_supported", true);

        ServerFailure refusal = refusal(consented(address -> URI.create(
                REDIRECT + "?code=c&state=" + parameters(address.getRawQuery()).get("state"))));

        assertThat(refusal).hasMessage("iss \"null\" of the authorization (expected: " + origin + ")");
    }

    @Test
    void anExpiredTokenIsRefreshedAndOnlyIfThatFailsRequestedAnew() throws Exception {
        tokens.clear();
        tokens.add("{\"access_token\":\"t1\",\"refresh_token\":\"r1\",\"scope\":\"a\"}");
        tokens.add("{\"access_token\":\"t2\"}");
        tokens.add("{\"error\":\"invalid_grant\"}");
        tokens.add("{\"access_token\":\"t3\"}");
        OAuth oauth = credentials();

        for (String token : List.of("t1", "t2", "t3")) {
            renew(oauth);
            assertThat(oauth.authorization()).contains("Bearer " + token);
        }

        assertThat(asked)
                .extracting(
                        request -> request.form().get("grant_type"),
                        request -> request.form().get("refresh_token"))
                .containsExactly(
                        tuple("client_credentials", null),
                        tuple("refresh_token", "r1"),
                        tuple("refresh_token", "r1"),
                        tuple("client_credentials", null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"access_token\":5}",
                "[]",
                "no JSON",
                "{\"error\":\"invalid_client\"}",
                "{\"access_token\":\"t\\r\\nX-Evil: 1\"}"
            })
    void anAnswerWithoutATokenIsNone(String body) {
        tokens.clear();
        tokens.add(body);

        assertThat(refusal(credentials())).hasMessage("authorization server " + origin + " gives no token");
    }

    @Test
    void aTokenOfAnotherTypeThanBearerIsRefused() {
        tokens.clear();
        tokens.add("{\"access_token\":\"t1\",\"token_type\":\"mac\"}");

        assertThat(refusal(credentials()))
                .hasMessage("the authorization server answers with token_type mac, expected: bearer");
    }

    @Test
    void noTextShowsASecret() {
        assertThat(OAuth.Registration.credentials("id", "s3cret", null))
                .asString()
                .doesNotContain("s3cret");
    }

    @Test
    void documentsOfOthersAreRefused() {
        issuer.put("issuer", "https://other.example");
        assertThat(refusal(credentials())).hasMessage("issuer \"https://other.example\" (expected: " + origin + ")");

        resource.put("resource", "https://other.example");
        assertThat(refusal(credentials()))
                .hasMessage("resource \"https://other.example\" in the metadata (expected: " + origin + "/mcp)");
    }

    @Test
    void secretsDoNotTravelInTheClear() {
        issuer.put("token_endpoint", "http://login.example.com/token");

        assertThat(refusal(credentials()))
                .hasMessage("address \"http://login.example.com/token\" for authorization (expected: https)");
    }

    @Test
    void anAnswerLargerThanTheLimitIsRefused() {
        tokens.clear();
        tokens.add("{\"access_token\":\"" + "t".repeat(256 * 1024) + "\"}");

        assertThat(refusal(credentials()))
                .hasMessage("a document of the authorization server is longer than 262144 bytes");
    }
}
