package dev.parley.client.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.RawServer;
import dev.parley.client.keys.KeyManager;
import dev.parley.client.keys.MemoryKeyring;
import dev.parley.client.login.OAuthLogin;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Feature row GEM06: tokens of a login are renewed. */
@Timeout(60)
final class LoginsTest {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private final AtomicReference<String> accepted = new AtomicReference<>("refresh-0");
    private final AtomicInteger renewals = new AtomicInteger();
    private final MemoryKeyring keyring = new MemoryKeyring();
    private final KeyManager keys = keyring.builder().build();
    private final Logins logins = new Logins(now::get, null);
    private RawServer server;
    private Runnable before = () -> {};

    /** A server that takes each refresh token once, and gives another one with each access token. */
    @BeforeEach
    void start() throws IOException {
        server = new RawServer(connection -> {
            for (var request = connection.request(); request != null; request = connection.request()) {
                before.run();
                String form = URLDecoder.decode(request.text(), StandardCharsets.UTF_8);
                String presented = form.replaceFirst(".*refresh_token=(refresh-[^&]*).*", "$1");
                if (presented.equals(accepted.get())) {
                    int number = renewals.incrementAndGet();
                    accepted.set("refresh-" + number);
                    connection.answer(
                            200,
                            "{\"access_token\":\"access-" + number
                                    + "\",\"expires_in\":600,\"refresh_token\":\"refresh-" + number + "\"}");
                } else {
                    connection.answer(400, "{\"error\":\"invalid_grant\"}");
                }
            }
        });
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void login(@Nullable String refresh) {
        keys.setLogin(
                "bank",
                new OAuthLogin.Token("access-0", Duration.ofMinutes(10), refresh, "program", server.url("/token")),
                requireNonNull(now.get()));
    }

    private String token() throws InterruptedException {
        return logins.token(keys, "bank", keys.apiKey("bank").orElseThrow(), PATIENCE);
    }

    @Test
    @DisplayName(
            "GEM06: a token is used until it is about to expire, then renewed, with the refresh token that came last")
    void refreshTokensAreRotated() throws Exception {
        login("refresh-0");

        now.set(START.plusSeconds(530));
        assertThat(token()).isEqualTo("access-0");
        assertThat(renewals).hasValue(0);
        now.set(START.plusSeconds(545));
        assertThat(token()).isEqualTo("access-1");
        now.set(START.plusSeconds(545 + 545));
        assertThat(token()).isEqualTo("access-2");
        assertThat(token()).isEqualTo("access-2");

        assertThat(renewals).hasValue(2);
        KeyManager restarted = keyring.builder().build();
        assertThat(restarted.apiKey("bank")).contains("access-2");
        assertThat(restarted.login("bank", false).orElseThrow().refresh()).isEqualTo("refresh-2");
        assertThat(server.requests.getFirst().text()).contains("grant_type=refresh_token", "client_id=program");
    }

    @Test
    void manyThreadsRenewALoginOnce() throws Exception {
        login("refresh-0");
        now.set(START.plusSeconds(600));
        List<Callable<String>> calls = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            calls.add(this::token);
        }

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<String> each : threads.invokeAll(calls)) {
                assertThat(each.get()).isEqualTo("access-1");
            }
        }

        assertThat(renewals).hasValue(1);
    }

    @Test
    void aLoginThatAnotherProcessHasRenewedIsTaken() throws Exception {
        login("refresh-0");
        now.set(START.plusSeconds(600));
        // The other process is faster while this one asks the server.
        before = () -> {
            accepted.set("refresh-of-the-other");
            keyring.builder()
                    .environment(Map.of())
                    .build()
                    .setLogin(
                            "bank",
                            new OAuthLogin.Token(
                                    "access-of-the-other",
                                    Duration.ofMinutes(10),
                                    "refresh-of-the-other",
                                    "program",
                                    server.url("/token")),
                            requireNonNull(now.get()));
        };

        assertThat(token()).isEqualTo("access-of-the-other");
    }

    @Test
    void aLoginThatCannotBeRenewedHasToBeMadeAgain() {
        login(null);
        now.set(START.plusSeconds(600));
        assertThatThrownBy(this::token)
                .isInstanceOfSatisfying(
                        ClientException.class,
                        failure -> assertThat(failure.problem()).isEqualTo(Problem.LOGIN_EXPIRED))
                .hasMessageContaining("no refresh token");
        assertThat(server.requests).isEmpty();

        login("refresh-revoked");
        now.set(START.plusSeconds(1200));
        assertThatThrownBy(this::token)
                .isInstanceOfSatisfying(
                        ClientException.class,
                        failure -> assertThat(failure.problem()).isEqualTo(Problem.LOGIN_EXPIRED))
                .hasMessageContaining("invalid_grant")
                .hasMessageNotContaining("refresh-revoked");
    }

    @Test
    void aTokenThatAnAgentRefusedIsRenewedOnce() throws Exception {
        login("refresh-0");
        assertThat(token()).isEqualTo("access-0");

        logins.refused();

        assertThat(token()).isEqualTo("access-1");
        assertThat(token()).isEqualTo("access-1");
        assertThat(renewals).hasValue(1);
    }

    @Test
    void aKeyThatIsSetEndsALogin() throws Exception {
        login("refresh-0");
        now.set(START.plusSeconds(600));

        keys.setApiKey("bank", "a-fixed-key");

        assertThat(token()).isEqualTo("a-fixed-key");
        assertThat(keys.login("bank", true)).isEmpty();
        assertThat(server.requests).isEmpty();
    }
}
