package dev.parley.client.webhooks;

import dev.parley.outbound.http.HeaderText;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.PushConfig;
import org.jspecify.annotations.Nullable;

/** Values of a webhook that are sent in headers. */
public final class WebhookHeaders {
    private WebhookHeaders() {}

    /**
     * Checks what a webhook wants to be sent before it is stored.
     *
     * @throws A2AException INVALID_PARAMS naming the field whose value would break out of its header
     */
    public static void check(PushConfig config) {
        PushConfig.Authentication authentication = config.authentication();
        if (authentication != null && !HeaderText.isToken(authentication.scheme())) {
            throw A2AException.invalidParams("authentication.scheme", "must be the name of one HTTP scheme");
        }
        if (authentication != null) {
            requireValue("authentication.credentials", authentication.credentials());
        }
        requireValue("token", config.token());
    }

    private static void requireValue(String field, @Nullable String value) {
        if (value != null && !HeaderText.isValue(value)) {
            throw A2AException.invalidParams(
                    field, "must be at most " + HeaderText.MAX_LENGTH + " printable ASCII characters");
        }
    }
}
