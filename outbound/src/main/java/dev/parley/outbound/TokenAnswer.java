package dev.parley.outbound;

import dev.parley.outbound.http.HeaderText;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the JSON object that a token endpoint answers with. No exception quotes a token. Source: RFC 6749, section 5; RFC 6750. */
public final class TokenAnswer {
    private TokenAnswer() {}

    /**
     * Returns the access token; null if there is none that a header can have.
     *
     * @throws IllegalArgumentException if it is of another type than bearer; the message names the type
     */
    public static @Nullable String bearer(Map<?, ?> answer) {
        String token = text(answer, "access_token");
        if (token != null && answer.get("token_type") instanceof String type && !type.equalsIgnoreCase("bearer")) {
            throw new IllegalArgumentException("token_type " + type + ", expected: bearer");
        }
        return token;
    }

    /** Returns a token that headers and keyrings can have; null if the member is not one. */
    public static @Nullable String text(Map<?, ?> answer, String member) {
        return answer.get(member) instanceof String text && !text.isBlank() && HeaderText.isValue(text) ? text : null;
    }
}
