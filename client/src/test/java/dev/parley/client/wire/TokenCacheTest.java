package dev.parley.client.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.keys.OAuthClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.TokenCache.Wanted;
import dev.parley.outbound.TokenAnswer;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Feature row AV22: tokens for OAuth clients. */
@Timeout(30)
class TokenCacheTest {
    private static final Duration LEFT = Duration.ofSeconds(20);
    private static final Wanted WANTED =
            new Wanted("https://login.example.com/token", new OAuthClient("me & co", "s3cret+"), List.of("a", "b"));

    private final AtomicInteger asked = new AtomicInteger();
    private final List<String> forms = new ArrayList<>();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    /** Answers with the given body, in which {@code #} is the number of the request. */
    private TokenCache answering(int status, String body) {
        return new TokenCache(
                (url, form, left) -> {
                    forms.add(form.text());
                    return TokenAnswer.of(
                            status,
                            HttpHeaders.of(Map.of(), (name, value) -> true),
                            body.replace("#", String.valueOf(asked.incrementAndGet()))
                                    .getBytes(UTF_8));
                },
                () -> now,
                TokenCache.MAX_TOKENS);
    }

    @Test
    @DisplayName("AV22: the client is in the form, and the token is used until a minute before it expires")
    void theClientIsInTheFormAndTheTokenIsUsedUntilAMinuteBeforeItExpires() throws Exception {
        TokenCache tokens = answering(200, "{\"access_token\":\"t#\",\"token_type\":\"Bearer\",\"expires_in\":300}");

        assertThat(tokens.get(WANTED, LEFT)).isEqualTo("t1");
        now = now.plusSeconds(239);
        assertThat(tokens.get(WANTED, LEFT)).isEqualTo("t1");
        now = now.plusSeconds(1);
        assertThat(tokens.get(WANTED, LEFT)).isEqualTo("t2");
        assertThat(forms.getFirst())
                .isEqualTo("grant_type=client_credentials&client_id=me+%26+co&client_secret=s3cret%2B&scope=a+b");
    }

    @Test
    void anExchangeNamesTheTokenOfTheCallerAndTheAudience() throws Exception {
        TokenCache tokens = answering(200, "{\"access_token\":\"t#\"}");

        tokens.get(new Wanted(WANTED.tokenUrl(), WANTED.client(), List.of(), "https://agent.example", "a+b"), LEFT);

        assertThat(forms)
                .containsExactly("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
                        + "&subject_token=a%2Bb"
                        + "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
                        + "&requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
                        + "&client_id=me+%26+co&client_secret=s3cret%2B&audience=https%3A%2F%2Fagent.example");
    }

    @Test
    @DisplayName("AV22: a token without a time is used for ever, unless the agent refuses it")
    void aTokenWithoutATimeIsUsedForEver() throws Exception {
        TokenCache tokens = answering(200, "{\"access_token\":\"t#\"}");

        assertThat(tokens.get(WANTED, LEFT)).isEqualTo("t1");
        now = now.plus(Duration.ofDays(1000));
        assertThat(tokens.get(WANTED, LEFT)).isEqualTo("t1");
        tokens.forget(List.of("Bearer t1"));
        assertThat(tokens.get(WANTED, LEFT)).isEqualTo("t2");
        tokens.forget(List.of("Bearer t1"));
        assertThat(tokens.get(WANTED, LEFT)).as("a refusal of an older token").isEqualTo("t2");
    }

    @Test
    void cardsThatRequireOtherScopesEachTimeDoNotFillTheMemory() throws Exception {
        TokenCache tokens = answering(200, "{\"access_token\":\"t#\"}");

        for (int i = 0; i < 2 * TokenCache.MAX_TOKENS; i++) {
            tokens.get(new Wanted(WANTED.tokenUrl(), WANTED.client(), List.of("scope-" + i)), LEFT);
            assertThat(tokens.size()).isLessThanOrEqualTo(TokenCache.MAX_TOKENS);
        }
        assertThat(tokens.get(WANTED, LEFT)).isEqualTo("t" + (2 * TokenCache.MAX_TOKENS + 1));
        assertThat(tokens.get(WANTED, LEFT)).isEqualTo("t" + (2 * TokenCache.MAX_TOKENS + 1));
    }

    @Test
    @DisplayName("AV22: many callers at once ask for a token once")
    void manyCallersAtOnceAskForATokenOnce() throws Exception {
        var all = new CountDownLatch(20);
        var tokens = new TokenCache(
                (url, form, left) -> {
                    all.await(); // nobody gets an answer before everybody has begun
                    asked.incrementAndGet();
                    return TokenAnswer.of(
                            200,
                            HttpHeaders.of(Map.of(), (name, value) -> true),
                            "{\"access_token\":\"t\"}".getBytes(UTF_8));
                },
                () -> now,
                TokenCache.MAX_TOKENS);
        Callable<String> caller = () -> {
            all.countDown();
            return tokens.get(WANTED, LEFT);
        };

        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls = new ArrayList<Future<String>>();
            for (int i = 0; i < 20; i++) {
                calls.add(pool.submit(caller));
            }
            for (Future<String> call : calls) {
                assertThat(call.get()).isEqualTo("t");
            }
        }
        assertThat(asked).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 403})
    @DisplayName("AV22: 400, 401 and 403 are errors of authentication")
    void aClientThatIsNotAcceptedIsAnErrorOfAuthentication(int status) {
        TokenCache tokens = answering(status, "{\"error\":\"invalid_client\"}");

        var refusal = catchThrowableOfType(ClientException.class, () -> tokens.get(WANTED, LEFT));

        assertThat(refusal.problem()).isEqualTo(Problem.AUTHENTICATION_FAILED);
        assertThat(refusal).hasMessageContaining("login.example.com").hasMessageNotContaining("s3cret");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{}|no access_token",
                "{\"access_token\":5}|no access_token",
                "{\"access_token\":\"\"}|no access_token",
                "{\"access_token\":\"a\\nb\"}|no access_token",
                "{\"access_token\":\"t\",\"token_type\":\"mac\"}|token_type mac, expected: bearer",
                "[leaked]|no JSON object"
            })
    void anAnswerWithoutATokenIsNone(String body, String problem) {
        TokenCache tokens = answering(200, body);

        var refusal = catchThrowableOfType(ClientException.class, () -> tokens.get(WANTED, LEFT));

        assertThat(refusal.problem()).isEqualTo(Problem.NO_TOKEN);
        assertThat(refusal).hasNoCause().hasMessage("https://login.example.com gives no token (" + problem + ")");
    }

    @Test
    void aBusyServerMayBeAskedAgain() {
        TokenCache tokens = answering(503, "");

        var trouble = catchThrowableOfType(AttemptFailure.class, () -> tokens.get(WANTED, LEFT));

        assertThat(trouble.isMendable(false)).isTrue();
        assertThat(trouble.isNobodyThere()).isFalse();
    }

    @Test
    void aSecretDoesNotTravelInTheClear() {
        TokenCache tokens = answering(200, "{\"access_token\":\"t\"}");
        var clear = new Wanted("http://login.example.com/token", WANTED.client(), List.of());

        assertThatThrownBy(() -> tokens.get(clear, LEFT))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("expected: https");
        assertThat(asked).hasValue(0);
    }
}
