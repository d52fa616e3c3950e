package dev.parley.trust.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Codes that an issuer answers with whatever a test says; a real provider is used in {@code OpenIdSignInTest} of interop. */
final class OpenIdSignInTest {
    private static final String HUB = "https://agents.example.com";
    private static final String ADDRESS = "192.0.2.1";

    private final SecretAttempts guesses = new SecretAttempts(InstantSource.system(), 1);
    private final AtomicReference<Map<String, ?>> answer = new AtomicReference<>();
    private HttpServer issuer;
    private OpenIdSignIn signIn;

    @BeforeEach
    void start() throws IOException {
        issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String url = "http://127.0.0.1:" + issuer.getAddress().getPort();
        serve(
                "/.well-known/openid-configuration",
                new AtomicReference<>(Map.of(
                        "issuer", url,
                        "jwks_uri", url + "/keys",
                        "authorization_endpoint", url + "/authorize",
                        "token_endpoint", url + "/token")));
        serve("/token", answer);
        issuer.start();
        var keys =
                new Issuer(url, () -> Set.of(HUB), InstantSource.system(), Issuer.documents(List.of(url), List.of()));
        signIn = new OpenIdSignIn(keys, "console", "openid", () -> HUB, () -> HUB, guesses);
    }

    private void serve(String path, AtomicReference<? extends Map<String, ?>> json) {
        issuer.createContext(path, exchange -> {
            byte[] body = Json.write(json.get());
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    @AfterEach
    void stop() {
        issuer.stop(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Bearer", "bearer"})
    void aBearerTokenIsReturned(String type) {
        answer.set(Map.of("access_token", "secret", "token_type", type));

        assertThat(signIn.token("code", "verifier", ADDRESS)).isEqualTo("secret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"DPoP", "mac", ""})
    void aTokenOfAnotherTypeIsRefusedByItsType(String type) {
        answer.set(Map.of("access_token", "secret", "token_type", type));

        assertThatThrownBy(() -> signIn.token("code", "verifier", ADDRESS))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.UNAVAILABLE))
                .hasMessageContaining("token_type " + type + ", expected: bearer")
                .hasMessageNotContaining("secret");
    }

    @Test
    void aTokenOfAnotherTypeIsNoGuess() {
        answer.set(Map.of("access_token", "secret", "token_type", "DPoP"));

        assertThatThrownBy(() -> signIn.token("code", "verifier", ADDRESS)).isInstanceOf(A2AException.class);

        assertThat(guesses.pause(new SecretAttempts.Source(ADDRESS, null))).isEqualTo(Duration.ZERO);
    }
}
