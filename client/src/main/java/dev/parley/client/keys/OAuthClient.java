package dev.parley.client.keys;

import dev.parley.outbound.http.Redaction;

/**
 * The name and password of a program at an OAuth 2 authorization server.
 *
 * @param secret never shown by {@link #toString}
 */
public record OAuthClient(String id, String secret) {
    public OAuthClient {
        ServiceKeys.requireSecret("client id", id);
        ServiceKeys.requireSecret("client secret", secret);
    }

    @Override
    public String toString() {
        return "OAuthClient[id=" + id + ", secret=" + Redaction.MASK + "]";
    }
}
