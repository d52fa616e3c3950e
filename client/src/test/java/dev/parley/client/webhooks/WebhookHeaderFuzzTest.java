package dev.parley.client.webhooks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever stands in the headers of a webhook that nobody has signed, it is refused. */
final class WebhookHeaderFuzzTest {
    private static final String SECRET = "whsec_" + "A".repeat(40);

    static Stream<byte[]> examples() {
        return Stream.of("id\n1700000000\nv1,AAAA v1,", "\n-1\n ", "x\n99999999999999999999\nv1,=")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void headers(byte[] bytes) {
        var headers = new HashMap<String, String>();
        String[] lines = new String(bytes, UTF_8).split("\n", 3);
        for (int i = 0; i < lines.length; i++) {
            headers.put(
                    List.of("webhook-id", "webhook-timestamp", "webhook-signature")
                            .get(i),
                    lines[i]);
        }

        var verdict =
                StandardWebhooks.of(List.of(SECRET)).verify(headers::get, bytes, Instant.ofEpochSecond(1_700_000_000));

        assertThat(verdict).isInstanceOf(StandardWebhooks.Verdict.Rejected.class);
    }
}
