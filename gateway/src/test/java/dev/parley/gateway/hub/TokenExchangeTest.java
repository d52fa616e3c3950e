package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A route with a token exchange: a caller with a token of an issuer, the issuer, and an agent that records its calls. */
@Timeout(60)
@Tag("heavy")
final class TokenExchangeTest {
    @TempDir
    Path secrets;

    private final Queue<String> forms = new ConcurrentLinkedQueue<>();
    private final Queue<String> authorizations = new ConcurrentLinkedQueue<>();
    private HttpServer server;
    private String url;
    private KeyPair keys;
    private Hub hub;

    @BeforeEach
    void start() throws Exception {
        keys = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        url = "http://127.0.0.1:" + server.getAddress().getPort();
        serve("/.well-known/openid-configuration", Map.of("issuer", url, "jwks_uri", url + "/keys"));
        var rsa = (RSAPublicKey) keys.getPublic();
        serve(
                "/keys",
                Map.of(
                        "keys",
                        List.of(Map.of(
                                "kty",
                                "RSA",
                                "kid",
                                "one",
                                "n",
                                number(rsa.getModulus()),
                                "e",
                                number(rsa.getPublicExponent())))));
        server.createContext("/token", exchange -> {
            forms.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
            answer(exchange, Map.of("access_token", "token-for-the-agent", "token_type", "Bearer", "expires_in", 600));
        });
        serve(
                "/agent/.well-known/agent-card.json",
                Map.of(
                        "name",
                        "far",
                        "description",
                        "",
                        "version",
                        "1",
                        "capabilities",
                        Map.of(),
                        "skills",
                        List.of(),
                        "defaultInputModes",
                        List.of(),
                        "defaultOutputModes",
                        List.of(),
                        "supportedInterfaces",
                        List.of(Map.of(
                                "url", url + "/agent", "protocolBinding", "JSONRPC", "protocolVersion", "1.0"))));
        server.createContext("/agent/", exchange -> agent(exchange));
        server.createContext("/agent", exchange -> agent(exchange));
        server.start();
        Files.writeString(secrets.resolve("gateway"), "secret-of-the-gateway");
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .set("gateway-secrets", secrets.toString())
                .set("gateway-allow", "localhost")
                .authentication(Authentication.named(List.of("required")))
                .issuer(url)
                .callers(Callers.builder().apiKey("bob", "bob-key-0123456789").build())
                .start();
        Admin.of(hub)
                .add(
                        "far",
                        url + "/agent",
                        Map.of(
                                "set",
                                List.of(
                                        "credential=token-exchange",
                                        "token-url=" + url + "/token",
                                        "client-id=gateway",
                                        "secret=file:gateway",
                                        "audience=https://agent.example")));
    }

    @AfterEach
    void stop() {
        hub.close();
        server.stop(0);
    }

    private void agent(HttpExchange exchange) throws IOException {
        if (exchange.getRequestMethod().equals("GET")) {
            exchange.sendResponseHeaders(404, -1);
            exchange.close();
            return;
        }
        authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
        Object id = requireNonNull(
                Json.read(exchange.getRequestBody().readAllBytes(), Map.class).get("id"));
        var message = Map.of("messageId", "m", "role", "ROLE_AGENT", "parts", List.of(Map.of("text", "hi")));
        answer(exchange, Map.of("jsonrpc", "2.0", "id", id, "result", Map.of("message", message)));
    }

    private void serve(String path, Map<String, ?> document) {
        server.createContext(path, exchange -> answer(exchange, document));
    }

    private static void answer(HttpExchange exchange, Map<String, ?> document) throws IOException {
        byte[] body = Json.write(document);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static String number(BigInteger number) {
        byte[] bytes = number.toByteArray();
        int sign = bytes[0] == 0 ? 1 : 0;
        return encoded(java.util.Arrays.copyOfRange(bytes, sign, bytes.length));
    }

    private static String encoded(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private String token() throws GeneralSecurityException {
        long now = Instant.now().getEpochSecond();
        String signed = encoded(Json.write(Map.of("alg", "RS256", "kid", "one", "typ", "JWT"))) + "."
                + encoded(Json.write(Map.of(
                        "iss", url, "sub", "alice", "aud", hub.url(), "iat", now, "nbf", now - 1, "exp", now + 600)));
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(keys.getPrivate());
        signature.update(signed.getBytes(UTF_8));
        return signed + "." + encoded(signature.sign());
    }

    @Test
    void theAgentGetsATokenForItselfAndNeverThatOfTheCaller() throws Exception {
        String token = token();
        try (AgentClient alice = AgentClient.builder().bearer(token).connect(hub.agentUrl("far"))) {
            assertThat(((Message) alice.send("hello")).text()).isEqualTo("hi");
            alice.send("again");
        }

        assertThat(authorizations).hasSize(2).containsOnly("Bearer token-for-the-agent");
        assertThat(forms)
                .as("a token is kept")
                .singleElement()
                .satisfies(form -> assertThat(form)
                        .contains(
                                "subject_token=" + token, "audience=https%3A%2F%2Fagent.example", "client_id=gateway"));
        assertThat(String.valueOf(Admin.of(hub).show("far")))
                .contains("file:gateway")
                .doesNotContain("secret-of-");
    }

    @Test
    void aCallerWithAnotherCredentialIsRefused() {
        try (AgentClient bob =
                AgentClient.builder().apiKey("bob-key-0123456789").connect(hub.agentUrl("far"))) {
            A2AException refusal = catchThrowableOfType(A2AException.class, () -> bob.send("hello"));

            assertThat(refusal.error()).isEqualTo(A2AError.PERMISSION_DENIED);
            assertThat(refusal).hasMessageContaining("whose credential cannot be exchanged");
        }
        assertThat(authorizations).isEmpty();
        assertThat(forms).isEmpty();
    }
}
