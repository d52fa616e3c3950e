package dev.parley.client;

import dev.parley.client.keys.OAuthClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.AttemptFailure;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.HttpWire;
import dev.parley.client.wire.TokenCache;
import dev.parley.outbound.http.HttpUrl;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of an OAuth client for one audience, each kept until shortly before it expires. Safe for any thread.
 *
 * <p>Source: RFC 6749, section 4.4; RFC 8693.
 */
public final class TokenClient implements AutoCloseable {
    /** Tokens that are kept: those of so many callers. */
    private static final int MOST_TOKENS = 4_096;

    private final String tokenUrl;
    private final OAuthClient client;
    private final List<String> scopes;
    private final @Nullable String audience;
    private final HttpWire wire;
    private final TokenCache tokens;

    TokenClient(
            ClientSettings settings,
            String tokenUrl,
            OAuthClient client,
            List<String> scopes,
            @Nullable String audience) {
        this.tokenUrl = tokenUrl;
        this.client = client;
        this.scopes = List.copyOf(scopes);
        this.audience = audience;
        this.wire = new HttpWire(settings, Set.of(HttpUrl.of(tokenUrl).origin()));
        this.tokens = TokenCache.of(wire, MOST_TOKENS);
    }

    /**
     * Returns a token of the client itself.
     *
     * @throws ClientException if the authorization server gives none
     */
    public String token(Duration left) throws InterruptedException {
        return get(null, left);
    }

    /**
     * Returns a token in exchange for the one of a principal on whose behalf the client calls.
     *
     * @throws ClientException if the authorization server gives none, or one for another audience
     */
    public String exchanged(String subject, Duration left) throws InterruptedException {
        return get(subject, left);
    }

    private String get(@Nullable String subject, Duration left) throws InterruptedException {
        try {
            return tokens.get(new TokenCache.Wanted(tokenUrl, client, scopes, audience, subject), left);
        } catch (AttemptFailure trouble) {
            throw new ClientException(
                    Problem.NO_TOKEN, String.valueOf(trouble.verdict().getMessage()), trouble);
        }
    }

    /**
     * Asks anew for the tokens that an agent has refused.
     *
     * @param headers values of the headers of the refused call
     */
    public void forget(Collection<String> headers) {
        tokens.forget(headers);
    }

    @Override
    public void close() {
        wire.close();
    }
}
