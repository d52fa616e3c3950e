package dev.parley.gateway.credentials;

import dev.parley.client.AgentClientBuilder;
import dev.parley.client.TokenClient;
import dev.parley.client.keys.OAuthClient;
import dev.parley.client.spi.CallCredentials;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The credential of a route with each call. The caller's own token never goes to the agent: in an exchange it goes to the authorization
 * server only, which gives another one for the audience of the agent. Safe for any thread.
 */
public final class GatewayCredentials implements CallCredentials, AutoCloseable {
    /** Message of a refusal that is about the credential of the caller, not about that of the gateway. */
    public static final String NO_TOKEN = "The agent is called on behalf of its caller, whose credential cannot be"
            + " exchanged (expected: an access token of an issuer that the hub trusts)";

    private final RouteCredential credential;
    private final SecretName.Places secrets;
    private final Supplier<AgentClientBuilder> builder;
    private volatile @Nullable TokenClient tokens;
    private volatile @Nullable String fixed;
    private boolean closed;

    /** @param builder of the connections to the authorization server */
    public GatewayCredentials(
            RouteCredential credential, SecretName.Places secrets, Supplier<AgentClientBuilder> builder) {
        this.credential = credential;
        this.secrets = secrets;
        this.builder = builder;
    }

    /** Adds the credential to the calls of a client. */
    public AgentClientBuilder on(AgentClientBuilder client) {
        return credential instanceof RouteCredential.None ? client : client.credentials(this);
    }

    @Override
    public Map<String, String> headers(CallContext context, Duration left) throws InterruptedException {
        return switch (credential) {
            case RouteCredential.None() -> Map.of();
            case RouteCredential.Fixed key -> Map.of(key.header(), key.prefix() + value(key));
            case RouteCredential.OAuth oauth -> Map.of("Authorization", "Bearer " + token(oauth, context, left));
        };
    }

    private String token(RouteCredential.OAuth oauth, CallContext context, Duration left) throws InterruptedException {
        try {
            return oauth.exchange()
                    ? tokens(oauth).exchanged(subject(context), left)
                    : tokens(oauth).token(left);
        } catch (ClientException refusal) {
            if (refusal.problem() == Problem.AUTHENTICATION_FAILED) {
                tokens = null; // the secret is read anew by the next call
            }
            throw refusal;
        }
    }

    private static String subject(CallContext context) {
        String token = context.token();
        if (token == null) {
            throw A2AException.of(A2AError.PERMISSION_DENIED, NO_TOKEN);
        }
        return token;
    }

    private String value(RouteCredential.Fixed key) {
        String known = fixed;
        if (known == null) {
            known = key.secret().value(secrets);
            fixed = known;
        }
        return known;
    }

    private TokenClient tokens(RouteCredential.OAuth oauth) {
        TokenClient known = tokens;
        return known == null ? connected(oauth) : known;
    }

    /** Reads the secret and connects without a lock; of several callers that do, all use the connection of the first one. */
    private TokenClient connected(RouteCredential.OAuth oauth) {
        var client = new OAuthClient(oauth.clientId(), oauth.secret().value(secrets));
        TokenClient made = builder.get().tokens(oauth.tokenUrl(), client, oauth.scopes(), oauth.audience());
        TokenClient used;
        boolean isOpen;
        synchronized (this) {
            used = tokens == null ? made : tokens;
            tokens = used;
            isOpen = !closed;
        }
        if (used != made || !isOpen) {
            made.close();
        }
        return used;
    }

    /** Reads the secret anew, and asks anew for the token of that call; those of other callers stay. */
    @Override
    public void refused(Map<String, String> headers) {
        fixed = null;
        TokenClient known = tokens;
        if (known != null) {
            known.forget(headers.values());
        }
    }

    @Override
    public void close() {
        TokenClient known;
        synchronized (this) {
            closed = true;
            known = tokens;
        }
        if (known != null) {
            known.close();
        }
    }
}
