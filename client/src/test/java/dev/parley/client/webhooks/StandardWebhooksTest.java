package dev.parley.client.webhooks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.webhooks.StandardWebhooks.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StandardWebhooksTest {
    private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    private static final Instant AT = Instant.ofEpochSecond(1_614_265_330);
    private static final byte[] BODY = "{\"test\": 2432232314}".getBytes(UTF_8);

    @Test
    void theSignatureIsTheOneThatTheSpecificationGivesAsItsExample() {
        Map<String, String> headers =
                StandardWebhooks.of(List.of(SECRET)).sign("msg_p5jXN8AQM9LWM0D4loKWxJek", AT, BODY);

        assertThat(headers)
                .containsEntry("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek")
                .containsEntry("webhook-timestamp", "1614265330")
                .containsEntry("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    @Test
    @DisplayName("S38: what was signed is genuine for five minutes")
    void whatWasSignedIsGenuineForFiveMinutes() {
        var webhooks = StandardWebhooks.of(List.of(SECRET));
        Map<String, String> headers = webhooks.sign("msg_1", AT, BODY);

        assertThat(webhooks.verify(headers::get, BODY, AT.plus(Duration.ofMinutes(5))))
                .isEqualTo(new Verdict.Genuine("msg_1", AT));
        assertThat(webhooks.verify(headers::get, BODY, AT.minus(Duration.ofMinutes(5))))
                .isInstanceOf(Verdict.Genuine.class);
        assertThat(webhooks.verify(headers::get, BODY, AT.plus(Duration.ofMinutes(6))))
                .isInstanceOf(Verdict.Rejected.class);
        assertThat(webhooks.verify(headers::get, BODY, AT.minus(Duration.ofMinutes(6))))
                .isInstanceOf(Verdict.Rejected.class);
    }

    @Test
    @DisplayName("S38: another body, another id or another time is rejected")
    void anotherBodyAnotherIdOrAnotherTimeIsRejected() {
        var webhooks = StandardWebhooks.of(List.of(SECRET));
        Map<String, String> headers = webhooks.sign("msg_1", AT, BODY);

        assertThat(webhooks.verify(headers::get, "{}".getBytes(UTF_8), AT)).isInstanceOf(Verdict.Rejected.class);
        assertThat(webhooks.verify(with(headers, "webhook-id", "msg_2")::get, BODY, AT))
                .isInstanceOf(Verdict.Rejected.class);
        assertThat(webhooks.verify(with(headers, "webhook-timestamp", "1614265331")::get, BODY, AT))
                .isInstanceOf(Verdict.Rejected.class);
    }

    @Test
    @DisplayName("S38: during a rotation both secrets serve")
    void duringARotationBothSecretsServe() {
        String fresh = StandardWebhooks.newSecret();
        var before = StandardWebhooks.of(List.of(SECRET));
        var during = StandardWebhooks.of(List.of(fresh, SECRET));
        var after = StandardWebhooks.of(List.of(fresh));
        Map<String, String> headers = during.sign("msg_1", AT, BODY);

        assertThat(before.verify(headers::get, BODY, AT)).isInstanceOf(Verdict.Genuine.class);
        assertThat(after.verify(headers::get, BODY, AT)).isInstanceOf(Verdict.Genuine.class);
        assertThat(during.verify(before.sign("msg_1", AT, BODY)::get, BODY, AT)).isInstanceOf(Verdict.Genuine.class);
        assertThat(after.verify(before.sign("msg_1", AT, BODY)::get, BODY, AT)).isInstanceOf(Verdict.Rejected.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "v1", "v1,", "v1,!!", "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v2,xx v1,AAAA"})
    void aSignatureThatIsNoneIsRejected(String signature) {
        var webhooks = StandardWebhooks.of(List.of(SECRET));
        Map<String, String> headers = with(webhooks.sign("msg_1", AT, BODY), "webhook-signature", signature);

        assertThat(webhooks.verify(headers::get, BODY, AT)).isInstanceOf(Verdict.Rejected.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "1.5", "99999999999999999999", "9223372036854775807"})
    void aTimestampThatIsNoneIsRejected(String timestamp) {
        var webhooks = StandardWebhooks.of(List.of(SECRET));
        Map<String, String> headers = with(webhooks.sign("msg_1", AT, BODY), "webhook-timestamp", timestamp);

        assertThat(webhooks.verify(headers::get, BODY, AT)).isInstanceOf(Verdict.Rejected.class);
    }

    @Test
    void withoutHeadersNothingIsGenuine() {
        assertThat(StandardWebhooks.of(List.of(SECRET)).verify(name -> null, BODY, AT))
                .isEqualTo(new Verdict.Rejected("not signed"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "whsec_", "whsec_c2hvcnQ=", "whsec_***not-base64***"})
    void aSecretThatIsWeakOrUnreadableIsRefusedAndNotRepeated(String secret) {
        assertThatThrownBy(() -> StandardWebhooks.of(List.of(secret)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("webhook secret: ")
                .hasMessageNotContaining("not-base64*")
                .hasNoCause();
    }

    private static Map<String, String> with(Map<String, String> headers, String name, String value) {
        var changed = new HashMap<>(headers);
        changed.put(name, value);
        return changed;
    }
}
