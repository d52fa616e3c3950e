package dev.parley.gateway.credentials;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class GatewayCredentialsTest {
    private static final Duration LEFT = Duration.ofSeconds(10);
    private static final CallContext ALICE = CallContext.anonymous().withToken("token-of-alice");
    private static final CallContext BOB = CallContext.anonymous().withToken("token-of-bob");

    @TempDir
    Path secrets;

    private final List<Map<String, String>> forms = new CopyOnWriteArrayList<>();
    private final CountDownLatch gate = new CountDownLatch(1);
    private volatile String audience = "https://agent.example";
    private volatile int status = 200;
    private HttpServer server;
    private @Nullable GatewayCredentials credentials;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/token", exchange -> {
            var form = new LinkedHashMap<String, String>();
            for (String pair : new String(exchange.getRequestBody().readAllBytes(), UTF_8).split("&", -1)) {
                String[] parts = pair.split("=", 2);
                form.put(parts[0], URLDecoder.decode(parts[1], UTF_8));
            }
            forms.add(form);
            if (form.getOrDefault("scope", "").equals("slow")) {
                awaitGate();
            }
            String claims = "{\"aud\":\"" + audience + "\",\"n\":" + forms.size() + "}";
            String jwt =
                    "e30." + Base64.getUrlEncoder().withoutPadding().encodeToString(claims.getBytes(UTF_8)) + ".c2ln";
            byte[] body = ("{\"access_token\":\"" + jwt + "\",\"token_type\":\"Bearer\",\"expires_in\":3600}")
                    .getBytes(UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    private void awaitGate() {
        try {
            gate.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @AfterEach
    void stop() {
        if (credentials != null) {
            credentials.close();
        }
        server.stop(0);
    }

    private GatewayCredentials credentials(Map<String, Object> json) {
        var places = new SecretName.Places(Map.of("PARLEY_GATEWAY_SECRET_AS", "secret-of-the-gateway"), secrets);
        var opened = new GatewayCredentials(RouteCredential.read(json), places, AgentClient::builder);
        credentials = opened;
        return opened;
    }

    private Map<String, Object> oauth(String kind, String scope) {
        return Map.of(
                "credential",
                kind,
                "token-url",
                "http://127.0.0.1:" + server.getAddress().getPort() + "/token",
                "client-id",
                "gateway",
                "secret",
                "env:AS",
                "scope",
                scope,
                "audience",
                "https://agent.example");
    }

    @Test
    void theTokenOfACallerIsExchangedAndNeverPassedOn() throws Exception {
        GatewayCredentials exchange = credentials(oauth("token-exchange", "read"));

        Map<String, String> headers = exchange.headers(ALICE, LEFT);

        assertThat(headers).containsOnlyKeys("Authorization");
        assertThat(headers.get("Authorization")).startsWith("Bearer e30.").doesNotContain("token-of-alice");
        assertThat(forms)
                .containsExactly(Map.of(
                        "grant_type",
                        "urn:ietf:params:oauth:grant-type:token-exchange",
                        "subject_token",
                        "token-of-alice",
                        "subject_token_type",
                        "urn:ietf:params:oauth:token-type:access_token",
                        "requested_token_type",
                        "urn:ietf:params:oauth:token-type:access_token",
                        "client_id",
                        "gateway",
                        "client_secret",
                        "secret-of-the-gateway",
                        "scope",
                        "read",
                        "audience",
                        "https://agent.example"));
    }

    @Test
    void eachCallerHasATokenOfItsOwnThatIsKept() throws Exception {
        GatewayCredentials exchange = credentials(oauth("token-exchange", "read"));

        Map<String, String> first = exchange.headers(ALICE, LEFT);
        Map<String, String> bob = exchange.headers(BOB, LEFT);

        assertThat(exchange.headers(ALICE, LEFT)).isEqualTo(first).isNotEqualTo(bob);
        assertThat(forms).hasSize(2);
        exchange.refused(first);
        assertThat(exchange.headers(ALICE, LEFT)).isNotEqualTo(first);
        assertThat(exchange.headers(BOB, LEFT))
                .as("the token of another caller")
                .isEqualTo(bob);
        assertThat(forms).hasSize(3);
    }

    @Test
    void callsThatAreRefusedTogetherAskForOneToken() throws Exception {
        GatewayCredentials exchange = credentials(oauth("token-exchange", "read"));
        Map<String, String> refused = exchange.headers(ALICE, LEFT);

        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var answers = new ArrayList<Future<Map<String, String>>>();
            for (int i = 0; i < 50; i++) {
                answers.add(threads.submit(() -> {
                    exchange.refused(refused);
                    return exchange.headers(ALICE, LEFT);
                }));
            }
            for (Future<Map<String, String>> answer : answers) {
                assertThat(answer.get()).isNotEqualTo(refused);
            }
        }

        assertThat(forms).hasSize(2);
    }

    @Test
    void aTokenForAnotherAudienceIsRefused() {
        audience = "https://other.example";

        assertThatThrownBy(() -> credentials(oauth("token-exchange", "read")).headers(ALICE, LEFT))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("another audience than https://agent.example");
    }

    @Test
    void aCallerWithoutATokenOfAnIssuerIsRefused() {
        assertThatThrownBy(() -> credentials(oauth("token-exchange", "read")).headers(CallContext.anonymous(), LEFT))
                .isInstanceOfSatisfying(
                        A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.PERMISSION_DENIED));
        assertThat(forms).isEmpty();
    }

    @Test
    void aRefusedExchangeNamesNoSecret() {
        status = 400;

        assertThatThrownBy(() -> credentials(oauth("token-exchange", "read")).headers(ALICE, LEFT))
                .hasMessageContaining("the token of the caller is not exchanged")
                .message()
                .doesNotContain("token-of-alice", "secret-of-the-gateway");
    }

    @Test
    void callsAtOnceAskForOneToken() throws Exception {
        GatewayCredentials client = credentials(oauth("client-credentials", "slow"));
        var calls = new ArrayList<FutureTask<Map<String, String>>>();
        for (int i = 0; i < 20; i++) {
            var call = new FutureTask<>(() -> client.headers(ALICE, LEFT));
            calls.add(call);
            Thread.ofVirtual().start(call);
        }

        gate.countDown();

        for (FutureTask<Map<String, String>> call : calls) {
            assertThat(call.get()).isEqualTo(calls.getFirst().get());
        }
        assertThat(forms).hasSize(1);
        assertThat(forms.getFirst())
                .containsEntry("grant_type", "client_credentials")
                .doesNotContainKey("subject_token");
    }

    @Test
    void aFixedKeyIsReadAnewAfterARefusal() throws Exception {
        Files.writeString(secrets.resolve("key"), "first-key\n");
        GatewayCredentials key =
                credentials(Map.of("credential", "api-key", "credential-header", "X-Agent-Key", "secret", "file:key"));
        assertThat(key.headers(ALICE, LEFT)).isEqualTo(Map.of("X-Agent-Key", "first-key"));

        Files.writeString(secrets.resolve("key"), "second-key\n");
        key.refused(key.headers(ALICE, LEFT));

        assertThat(key.headers(ALICE, LEFT)).isEqualTo(Map.of("X-Agent-Key", "second-key"));
    }

    @Test
    void settingsHoldNamesOfSecretsOnly() {
        RouteCredential read = RouteCredential.read(oauth("token-exchange", "read write"));

        assertThat(read.toString()).contains("env:AS").doesNotContain("secret-of-the-gateway");
        assertThatThrownBy(() -> RouteCredential.read(Map.of("credential", "bearer", "secret", "s3cret-value")))
                .hasMessageContaining("expected: env:NAME or file:NAME")
                .message()
                .doesNotContain("s3cret-value");
        for (String path : List.of("file:/etc/passwd", "file:../x", "file:..", "env:path")) {
            assertThatThrownBy(() -> new SecretName(path)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> credentials(Map.of("credential", "bearer", "secret", "env:NONE"))
                        .headers(ALICE, LEFT))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("secret \"env:NONE\": missing");
        assertThatThrownBy(() -> RouteCredential.read(Map.of(
                        "credential",
                        "token-exchange",
                        "token-url",
                        "https://as",
                        "client-id",
                        "x",
                        "secret",
                        "env:X")))
                .hasMessageContaining("audience: missing");
    }
}
