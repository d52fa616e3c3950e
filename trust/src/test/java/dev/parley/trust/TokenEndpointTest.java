package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.tokens.AccessTokens;
import dev.parley.trust.tokens.AccessTokens.Grant;
import dev.parley.trust.tokens.Proofs;
import dev.parley.trust.tokens.SecretAttempts;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The client credentials grant, as RFC 6749 has it. */
final class TokenEndpointTest {
    private static final String SECRET = "secret of the shop: +%";
    private static final String FORM_SECRET = "secret+of+the+shop%3A+%2B%25";
    private static final String GRANT = "grant_type=client_credentials";
    private static final String CLIENT = "&client_id=client&client_secret=" + FORM_SECRET;

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));
    private final AccessTokens tokens = new AccessTokens(new byte[32], () -> "https://agents.example.com", clock);
    private final TokenEndpoint endpoint = new TokenEndpoint(
            Callers.builder()
                    .oauthClient("shop", "client", SECRET)
                    .scopes("shop", List.of("read", "write"))
                    .oauthClient("stall", "other", "secret-of-the-stall")
                    .oauthClient("kiosk", "limited", "secret-of-the-kiosk")
                    .scopes("kiosk", List.of("agent:echo", "read"))
                    .build(),
            tokens,
            new Proofs(clock, null),
            () -> "https://agents.example.com",
            null,
            new SecretAttempts(clock, TokenEndpoint.MAX_WRONG));

    private record Answer(WireAnswer.Whole whole, Map<?, ?> body) {
        int status() {
            return whole.status();
        }

        Grant grant(AccessTokens tokens) {
            return Objects.requireNonNull(tokens.read(String.valueOf(body.get("access_token"))));
        }
    }

    private Answer post(String form, String... headers) {
        return send("POST", "192.0.2.1", form, headers);
    }

    private Answer send(String method, String address, String form, String... headers) {
        var all = new HashMap<String, String>();
        all.put("Content-Type", "application/x-www-form-urlencoded");
        for (int i = 0; i < headers.length; i += 2) {
            all.put(headers[i], headers[i + 1]);
        }
        var request = new WireRequest(method, "", Map.of(), all::get, form.getBytes(UTF_8), address);
        WireAnswer.Whole whole = endpoint.answer(request);
        assertThat(whole.headers()).containsEntry("Cache-Control", "no-store").containsEntry("Pragma", "no-cache");
        return new Answer(whole, Json.read(whole.body(), Map.class));
    }

    private static String basic(String pair) {
        return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(UTF_8));
    }

    @Test
    void aClientGetsATokenForItsSecretInTheForm() {
        Answer answer = post(GRANT + CLIENT);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.body().get("token_type")).isEqualTo("Bearer");
        assertThat(answer.body().get("expires_in")).isEqualTo(900);
        assertThat(answer.body().get("scope")).isEqualTo("read write");
        assertThat(answer.grant(tokens)).isEqualTo(new Grant("shop", "client", Set.of("read", "write"), null));
    }

    @Test
    void aClientGetsATokenForItsSecretInTheHeader() {
        assertThat(post(GRANT, "Authorization", basic("client:" + FORM_SECRET)).status())
                .isEqualTo(200);
        assertThat(post(GRANT + "&client_id=client", "Authorization", basic("client:" + FORM_SECRET))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void aTokenHasTheScopesThatWereAskedFor() {
        Answer answer = post(GRANT + CLIENT + "&scope=read");

        assertThat(answer.grant(tokens).scopes()).containsExactly("read");
        assertThat(answer.body().get("scope")).isEqualTo("read");
    }

    @Test
    void aTokenForSomeScopesKeepsTheLimitToAgents() {
        Answer answer = post(GRANT + "&client_id=limited&client_secret=secret-of-the-kiosk&scope=read");

        assertThat(answer.grant(tokens).scopes()).containsExactlyInAnyOrder("agent:echo", "read");
        assertThat(answer.body().get("scope")).isEqualTo("agent:echo read");
    }

    @Test
    void aTokenWithoutScopesIsGivenToWhoeverHasNone() {
        Answer answer = post(GRANT + "&client_id=other&client_secret=secret-of-the-stall");

        assertThat(answer.grant(tokens)).isEqualTo(new Grant("stall", "other", Set.of(), null));
        assertThat(answer.body().containsKey("scope")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "'', 401, invalid_client",
        "'client_id=client', 401, invalid_client",
        "'client_id=nobody&client_secret=x', 401, invalid_client",
        "'client_id=client&client_secret=wrong', 401, invalid_client",
        "'client_id=client&client_secret=" + FORM_SECRET + "', 400, invalid_request",
        "'grant_type=password&client_id=client&client_secret=" + FORM_SECRET + "', 400, unsupported_grant_type",
        "'grant_type=client_credentials&scope=read+admin" + CLIENT + "', 400, invalid_scope",
        "'grant_type=client_credentials&scope=%22" + CLIENT + "', 400, invalid_scope",
        "'grant_type=client_credentials&grant_type=client_credentials" + CLIENT + "', 400, invalid_request",
        "'grant_type=client_credentials&client_id=%zz', 400, invalid_request"
    })
    void whatIsWrongHasItsError(String form, int status, String error) {
        Answer answer = post(form);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.body().get("error")).isEqualTo(error);
        assertThat(answer.body().get("error_description")).isNotNull();
        assertThat(answer.whole().headers().containsKey("WWW-Authenticate")).isEqualTo(status == 401);
    }

    @ParameterizedTest
    @CsvSource({
        "Bearer abc, 401, invalid_client",
        "Basic ???, 401, invalid_client",
        "Basic Y2xpZW50, 401, invalid_client"
    })
    void aHeaderThatIsNoClientIsRefused(String header, int status, String error) {
        Answer answer = post(GRANT, "Authorization", header);

        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.body().get("error")).isEqualTo(error);
    }

    @Test
    void whoAuthenticatesTwiceIsRefused() {
        String header = basic("client:" + FORM_SECRET);

        assertThat(post(GRANT + CLIENT, "Authorization", header).body().get("error"))
                .isEqualTo("invalid_request");
        assertThat(post(GRANT + "&client_id=other", "Authorization", header)
                        .body()
                        .get("error"))
                .isEqualTo("invalid_request");
    }

    @Test
    void onlyFormsArePosted() {
        assertThat(post("{}", "Content-Type", "application/json").body().get("error"))
                .isEqualTo("invalid_request");
        assertThat(post(GRANT + CLIENT + "&x=" + "y".repeat(20_000)).body().get("error"))
                .isEqualTo("invalid_request");
        Answer read = send("GET", "192.0.2.1", "");
        assertThat(read.status()).isEqualTo(405);
        assertThat(read.whole().headers()).containsEntry("Allow", "POST");
    }

    @Test
    void whoGuessesIsNotListenedToForAMinuteAndNobodyElseIsShutOut() {
        String wrong = GRANT + "&client_id=client&client_secret=guess";
        for (int i = 0; i < TokenEndpoint.MAX_WRONG; i++) {
            assertThat(post(wrong).status()).isEqualTo(401);
        }

        Answer refused = post(GRANT + CLIENT);

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.whole().headers()).containsEntry("Retry-After", "60");
        assertThat(send("POST", "192.0.2.2", GRANT + CLIENT).status()).isEqualTo(200);
        assertThat(post(GRANT + "&client_id=other&client_secret=secret-of-the-stall")
                        .status())
                .isEqualTo(200);
        clock.advance(Duration.ofSeconds(60));
        assertThat(post(GRANT + CLIENT).status()).isEqualTo(200);
    }

    @Test
    void aClockThatIsPutBackMakesNoPauseLonger() {
        for (int i = 0; i < TokenEndpoint.MAX_WRONG; i++) {
            post(GRANT + "&client_id=client&client_secret=guess");
        }
        clock.advance(Duration.ofDays(-1));

        assertThat(post(GRANT + CLIENT).whole().headers()).containsEntry("Retry-After", "60");
        clock.advance(Duration.ofSeconds(60));
        assertThat(post(GRANT + CLIENT).status()).isEqualTo(200);
    }

    @Test
    void guessingTheNamesOfClientsIsCountedTogether() {
        for (int i = 0; i < TokenEndpoint.MAX_WRONG; i++) {
            assertThat(post(GRANT + "&client_id=c" + i + "&client_secret=guess").status())
                    .isEqualTo(401);
        }

        assertThat(post(GRANT + "&client_id=one-more&client_secret=guess").status())
                .isEqualTo(429);
    }

    @Test
    void guessesNeverTellWhichIdsOfClientsExist() {
        for (int i = 0; i < 2 * TokenEndpoint.MAX_WRONG; i++) {
            int known = send("POST", "192.0.2.7", GRANT + "&client_id=client&client_secret=guess")
                    .status();
            int unknown = send("POST", "192.0.2.8", GRANT + "&client_id=nobody&client_secret=guess")
                    .status();
            assertThat(known).as("guess " + i).isEqualTo(unknown);
        }
        // Of an address whose guesses are used up for ids in general, too.
        for (int i = 0; i < TokenEndpoint.MAX_WRONG; i++) {
            send("POST", "192.0.2.9", GRANT + "&client_id=c" + i + "&client_secret=guess");
        }
        assertThat(send("POST", "192.0.2.9", GRANT + "&client_id=client&client_secret=guess")
                        .status())
                .isEqualTo(send("POST", "192.0.2.9", GRANT + "&client_id=nobody&client_secret=guess")
                        .status());
        assertThat(send("POST", "192.0.2.9", GRANT + CLIENT).status()).isEqualTo(200);
    }
}
