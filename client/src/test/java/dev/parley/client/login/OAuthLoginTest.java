package dev.parley.client.login;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.RawServer;
import dev.parley.client.login.OAuthLogin.Prompt;
import dev.parley.client.login.OAuthLogin.Token;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.SecurityScheme.Flow;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Logins at an authorization server that checks PKCE, redirect address and codes as RFC 7636 and RFC 8628 want it. */
@Timeout(60)
class OAuthLoginTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Map<String, Map<String, String>> codes = new HashMap<>();
    private final AtomicInteger polls = new AtomicInteger();
    private RawServer server;

    @BeforeEach
    void start() throws IOException {
        server = new RawServer(connection -> {
            for (var request = connection.request(); request != null; request = connection.request()) {
                Map<String, String> form = parameters(request.text());
                String answer = request.line().startsWith("POST /device ")
                        ? "{\"device_code\":\"d-1\",\"user_code\":\"ABCD-EFGH\",\"verification_uri\":\""
                                + server.url("/activate") + "\",\"interval\":1,\"expires_in\":60}"
                        : token(form);
                connection.answer(
                        answer.contains("access_token") || answer.contains("device_code") ? 200 : 400, answer);
            }
        });
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private String token(Map<String, String> form) {
        if (form.containsKey("refresh_token")) {
            return String.valueOf(form.get("refresh_token"));
        }
        if ("d-1".equals(form.get("device_code"))) {
            return polls.incrementAndGet() < 2 ? "{\"error\":\"authorization_pending\"}" : granted("device");
        }
        Map<String, String> asked = codes.remove(form.get("code"));
        boolean good = asked != null
                && "authorization_code".equals(form.get("grant_type"))
                && Objects.equals(asked.get("client_id"), form.get("client_id"))
                && Objects.equals(asked.get("redirect_uri"), form.get("redirect_uri"))
                && Objects.equals(asked.get("code_challenge"), hashed(String.valueOf(form.get("code_verifier"))));
        return good ? granted("code") : "{\"error\":\"invalid_grant\"}";
    }

    private static String granted(String how) {
        return "{\"access_token\":\"token-by-" + how + "\",\"token_type\":\"Bearer\",\"expires_in\":3600}";
    }

    private static String hashed(String verifier) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(US_ASCII));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (java.security.NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static Map<String, String> parameters(String form) {
        var parameters = new HashMap<String, String>();
        for (String pair : form.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                parameters.put(pair.substring(0, equals), URLDecoder.decode(pair.substring(equals + 1), UTF_8));
            }
        }
        return parameters;
    }

    private OAuthLogin login() {
        return new OAuthLogin("program", List.of(server.url("")), PATIENCE, null);
    }

    private Flow.AuthorizationCode byCode() {
        return new Flow.AuthorizationCode(server.url("/authorize"), server.url("/token"), null, Map.of(), true);
    }

    /** A browser whose user agrees; {@code state} replaces that of the request if it is not null. */
    private Thread browser(Prompt prompt, String code, @org.jspecify.annotations.Nullable String state) {
        Map<String, String> asked = parameters(prompt.url().getRawQuery());
        codes.put(code, asked);
        String sent = state == null ? asked.get("state") : state;
        return Thread.startVirtualThread(() -> get(asked.get("redirect_uri") + "?code=" + code + "&state="
                + URLEncoder.encode(String.valueOf(sent), UTF_8)));
    }

    private static String get(String url) {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
                    .body();
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(failed);
        }
    }

    @Test
    @DisplayName("GEM06: a user logs in by authorization code with PKCE")
    void aBrowserBringsTheCodeAndTheVerifierProvesWhoAsked() throws Exception {
        Token token = login().byCode(byCode(), List.of("read", "write"), prompt -> {
            assertThat(parameters(prompt.url().getRawQuery()))
                    .containsEntry("response_type", "code")
                    .containsEntry("code_challenge_method", "S256")
                    .containsEntry("scope", "read write");
            browser(prompt, "c-1", null);
        });

        assertThat(token.text()).isEqualTo("token-by-code");
        assertThat(token.life()).isEqualTo(Duration.ofHours(1));
        assertThat(token.toString()).doesNotContain("token-by-code");
    }

    @Test
    void aCodeThatAnotherPageBringsIsNeverTaken() throws Exception {
        Token token = login().byCode(byCode(), List.of(), prompt -> {
            String redirect =
                    requireNonNull(parameters(prompt.url().getRawQuery()).get("redirect_uri"));
            Thread.startVirtualThread(() -> {
                get(redirect + "?code=forged&state=guessed");
                get(redirect.replace("/callback", "/") + "?code=forged");
                browser(prompt, "c-1", null);
            });
        });

        assertThat(token.text()).isEqualTo("token-by-code");
    }

    @Test
    void aUserWhoRefusesEndsTheLogin() {
        var refused = catchThrowableOfType(
                ClientException.class,
                () -> login().byCode(byCode(), List.of(), prompt -> {
                    Map<String, String> asked = parameters(prompt.url().getRawQuery());
                    Thread.startVirtualThread(() -> get(asked.get("redirect_uri") + "?error=access_denied&state="
                            + URLEncoder.encode(String.valueOf(asked.get("state")), UTF_8)));
                }));

        assertThat(refused.problem()).isEqualTo(Problem.AUTHENTICATION_FAILED);
        assertThat(refused).hasMessageContaining("access_denied");
    }

    @Test
    @DisplayName("GEM06: a user logs in by device code, on any machine")
    void aDeviceCodeIsTypedElsewhere() throws Exception {
        var flow = new Flow.DeviceCode(server.url("/device"), server.url("/token"), null, Map.of());

        Token token = login().byDevice(flow, List.of(), prompt -> {
            assertThat(prompt.code()).isEqualTo("ABCD-EFGH");
            assertThat(prompt.url().getPath()).isEqualTo("/activate");
        });

        assertThat(token.text()).isEqualTo("token-by-device");
        assertThat(polls).hasValue(2);
    }

    @ParameterizedTest
    @DisplayName("an answer without a token is refused, with the error of the server in visible ASCII")
    @CsvSource(
            delimiter = '|',
            value = {
                "{}|AUTHENTICATION_FAILED|null",
                "{\"access_token\":\"\",\"error\":7}|AUTHENTICATION_FAILED|7",
                "{\"access_token\":\"a\\nb\",\"error\":\"grün\"}|AUTHENTICATION_FAILED|gr?n",
                "{\"access_token\":\"t\",\"token_type\":\"mac\"}|NO_TOKEN|token_type mac, expected: bearer",
                "[7]|NO_TOKEN|no JSON object"
            })
    void anAnswerWithoutATokenIsNone(String answer, Problem problem, String why) {
        var refused = catchThrowableOfType(ClientException.class, () -> login().renew(server.url("/token"), answer));

        assertThat(refused.problem()).isEqualTo(problem);
        assertThat(refused)
                .hasMessageEndingWith(" gives no token (" + why + ")")
                .hasMessageStartingWith("http://localhost:");
    }

    @Test
    void aRenewalKeepsTheRefreshTokenUnlessTheServerGivesAnother() throws Exception {
        String first = "{\"access_token\":\"t\",\"expires_in\":-1,\"refresh_token\":\"a\\nb\"}";
        String next = "{\"access_token\":\"t\",\"token_type\":\"bearer\",\"refresh_token\":\"r2\"}";

        Token kept = login().renew(server.url("/token"), first);
        Token rotated = login().renew(server.url("/token"), next);

        assertThat(kept.refresh()).isEqualTo(first);
        assertThat(kept.life()).isEqualTo(Duration.ofSeconds(-1));
        assertThat(rotated.refresh()).isEqualTo("r2");
        assertThat(rotated.life()).isNull();
        assertThat(rotated.clientId()).isEqualTo("program");
    }

    @Test
    void aLoginNeverGoesToAServerThatWasNotAllowed() {
        var stranger = new OAuthLogin("program", List.of("https://agents.example.com"), PATIENCE, null);
        var plain = new OAuthLogin("program", List.of("http://login.example.com"), PATIENCE, null);
        var there = new Flow.AuthorizationCode(
                "http://login.example.com/a", "http://login.example.com/t", null, Map.of(), true);

        assertThat(catchThrowableOfType(ClientException.class, () -> stranger.byCode(byCode(), List.of(), prompt -> {}))
                        .problem())
                .isEqualTo(Problem.ORIGIN_NOT_ALLOWED);
        assertThat(catchThrowableOfType(ClientException.class, () -> plain.byCode(there, List.of(), prompt -> {})))
                .hasMessageContaining("expected: https");
        assertThat(server.requests).isEmpty();
    }
}
