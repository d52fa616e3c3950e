package dev.parley.client.webhooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.PushConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a webhook wants to be sent in headers, before it is stored. */
final class WebhookHeadersTest {
    @Test
    void valuesThatWouldBreakOutOfTheirHeaderAreRefused() {
        assertThat(field(config("token\r\nX-Evil: 1", null))).isEqualTo("token");
        assertThat(field(config("tök", null))).isEqualTo("token");
        assertThat(field(config("a".repeat(9000), null))).isEqualTo("token");
        assertThat(field(config(null, new PushConfig.Authentication("Bearer\n", "x"))))
                .isEqualTo("authentication.scheme");
        assertThat(field(config(null, new PushConfig.Authentication("Bearer Basic", "x"))))
                .isEqualTo("authentication.scheme");
        assertThat(field(config(null, new PushConfig.Authentication("", "x")))).isEqualTo("authentication.scheme");
        assertThat(field(config(null, new PushConfig.Authentication("Bearer", "x\ry"))))
                .isEqualTo("authentication.credentials");
        assertThat(field(config(null, new PushConfig.Authentication("Bearer", "x\0"))))
                .isEqualTo("authentication.credentials");
    }

    @Test
    void ordinaryCredentialsPass() {
        PushConfig config = config("tok-en~1", new PushConfig.Authentication("Digest", "username=\"u\", nonce=\"n\""));

        assertThatCode(() -> WebhookHeaders.check(config)).doesNotThrowAnyException();
        assertThatCode(() -> WebhookHeaders.check(config("t", new PushConfig.Authentication("Bearer", null))))
                .doesNotThrowAnyException();
    }

    private static PushConfig config(@Nullable String token, PushConfig.@Nullable Authentication authentication) {
        return new PushConfig(null, "c", "t", "https://hooks.example.com/", token, authentication);
    }

    private static String field(PushConfig config) {
        var refusal = catchThrowableOfType(A2AException.class, () -> WebhookHeaders.check(config));
        assertThat(refusal).as("refusal").isNotNull();
        return refusal.violations().getFirst().field();
    }
}
