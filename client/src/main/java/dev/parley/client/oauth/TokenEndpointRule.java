package dev.parley.client.oauth;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.outbound.TokenAnswer;
import dev.parley.outbound.http.HttpUrl;
import org.jspecify.annotations.Nullable;

/** Addresses of token endpoints on cards, and their answers. No exception quotes a token. Source: RFC 6749, section 5; RFC 6750. */
public final class TokenEndpointRule {
    private TokenEndpointRule() {}

    /**
     * Returns an address that is https or on this machine: others on the network must not read secrets.
     *
     * @param member of the card that has it
     * @throws ClientException NO_TOKEN for any other address
     */
    public static HttpUrl url(String member, String address) {
        HttpUrl url;
        try {
            url = HttpUrl.ofAgent(address);
        } catch (IllegalArgumentException wrong) {
            throw new ClientException(Problem.NO_TOKEN, member + " " + address + " " + wrong.getMessage(), wrong);
        }
        if (url.isPlain()) {
            throw new ClientException(Problem.NO_TOKEN, member + " " + address + " (expected: https)");
        }
        return url;
    }

    /**
     * Returns the access token of an answer; null if there is none that a header can have.
     *
     * @throws ClientException NO_TOKEN if it is no JSON object, or the token of another type than bearer
     */
    public static @Nullable String bearer(HttpUrl url, TokenAnswer answer) {
        try {
            return answer.bearer();
        } catch (IllegalArgumentException unusable) {
            throw noToken(url, String.valueOf(unusable.getMessage()));
        }
    }

    /** Returns the exception for an answer without a token. */
    public static ClientException noToken(HttpUrl url, String why) {
        return new ClientException(Problem.NO_TOKEN, url.origin() + " gives no token (" + why + ")");
    }
}
