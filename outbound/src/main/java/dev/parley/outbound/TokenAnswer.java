package dev.parley.outbound;

import dev.parley.outbound.http.HeaderText;
import dev.parley.outbound.http.Redaction;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * JSON answer of an authorization server. No exception quotes a token. Source: RFC 6749, section 5; RFC 6750.
 *
 * @param members empty unless the body is a JSON object
 */
public record TokenAnswer(int status, HttpHeaders headers, Map<String, @Nullable Object> members, boolean isObject) {
    /** Longest lifetime of a token; a longer one is shortened to it. */
    public static final Duration LONGEST = Duration.ofDays(3650);

    /** Reads a body of any kind. */
    public static TokenAnswer of(int status, HttpHeaders headers, byte[] body) {
        try {
            return new TokenAnswer(status, headers, JsonText.request(body, Codecs.STRUCT), true);
        } catch (A2AException mayQuoteTheToken) {
            return new TokenAnswer(status, headers, Map.of(), false);
        }
    }

    /**
     * Returns the access token; null if there is none that a header can have.
     *
     * @throws IllegalArgumentException if the body is no JSON object, or the token of another type than bearer; the message says which
     */
    public @Nullable String bearer() {
        if (!isObject) {
            throw new IllegalArgumentException("no JSON object");
        }
        String token = text("access_token");
        if (token != null && members.get("token_type") instanceof String type && !type.equalsIgnoreCase("bearer")) {
            throw new IllegalArgumentException("token_type " + type + ", expected: bearer");
        }
        return token;
    }

    /** Returns a token that headers and keyrings can have; null if the member is not one. */
    public @Nullable String text(String member) {
        return members.get(member) instanceof String text && !text.isBlank() && HeaderText.isValue(text) ? text : null;
    }

    /** Returns the life of the access token; null if the server does not say. */
    public @Nullable Duration life() {
        return members.get("expires_in") instanceof Number seconds
                ? Duration.ofSeconds(Math.clamp(seconds.longValue(), -LONGEST.toSeconds(), LONGEST.toSeconds()))
                : null;
    }

    @Override
    public String toString() {
        return "TokenAnswer[" + status + ", " + Redaction.MASK + "]";
    }
}
