package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.Authentication.Scheme;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a caller shows, it is let in for a secret that somebody has, or refused. */
final class CredentialFuzzTest {
    private static final String KEY = "key-of-alice-1234";
    private static final String TOKEN = "token-of-bob-12345";

    private final Trust trust = Trust.builder(
                    Callers.builder()
                            .apiKey("alice", KEY)
                            .bearer("bob", TOKEN)
                            .oauthClient("shop", "client", "secret-of-the-shop")
                            .build(),
                    null)
            .everywhere(Authentication.of(Scheme.API_KEY, Scheme.BEARER, Scheme.OAUTH2))
            .agent("basic", Authentication.of(Scheme.BASIC))
            .tokenKey(new byte[32])
            .hub(() -> "https://agents.example.com")
            .clock(new SettableClock(Instant.parse("2026-01-05T10:00:00Z")))
            .build();

    /** Headers, one in each line. */
    static Stream<byte[]> examples() {
        String pair = Base64.getEncoder().encodeToString(("alice:" + KEY).getBytes(UTF_8));
        return Stream.of(
                        "X-Api-Key: " + KEY,
                        "Authorization: Bearer " + TOKEN,
                        "Authorization: Basic " + pair,
                        "Authorization: DPoP a.b.c\nDPoP: a.b.c",
                        "X-Api-Key: prl_abcdefgh_0123456789\nAuthorization: Bearer prl_abcdefgh_0123456789")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void credentials(byte[] bytes) {
        String text = new String(bytes, UTF_8);
        var headers = new HashMap<String, String>();
        for (String line : text.split("\n", -1)) {
            int colon = line.indexOf(": ");
            headers.put(
                    line.substring(0, Math.max(0, colon)),
                    line.substring(colon + 1).strip());
        }
        var arrival = new RequestHead("POST", "/agents/echo", headers::get, "192.0.2.1", null);

        if (isLetIn("echo", arrival)) {
            assertThat(text).containsAnyOf(KEY, TOKEN);
        }
        if (isLetIn("basic", arrival)) {
            assertThat(headers.get("Authorization")).startsWithIgnoringCase("basic ");
        }
    }

    private boolean isLetIn(String agent, RequestHead arrival) {
        try {
            trust.admit(agent, arrival).leave().run();
            return true;
        } catch (A2AException refused) {
            assertThat(refused.error()).isIn(A2AError.UNAUTHENTICATED, A2AError.RATE_LIMITED);
            return false;
        }
    }
}
