package dev.parley.trust.tokens;

import dev.parley.outbound.OAuthForm;
import dev.parley.outbound.TokenAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.trust.tokens.SecretAttempts.Source;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sign-in of the users of an issuer by the authorization code flow with PKCE. The page keeps the verifier and leads the browser to the
 * issuer; the hub redeems the code, so that the page never has the token. Safe for any thread.
 *
 * <p>Source: OpenID Connect Core 1.0, section 3.1; RFC 7636; RFC 8707.
 *
 * @param client id of the console at the issuer, as a public client
 * @param scope scopes that are requested, separated by blanks
 * @param hub address of the hub, below which the issuer leads the browser back
 * @param audience of tokens that the hub accepts
 * @param guesses counts refused codes by the address of the client
 */
public record OpenIdSignIn(
        Issuer issuer,
        String client,
        String scope,
        Supplier<String> hub,
        Supplier<String> audience,
        SecretAttempts guesses) {
    private static final System.Logger LOG = System.getLogger("dev.parley.trust");
    private static final Duration RETRY = Duration.ofSeconds(10);

    /**
     * Returns the request to the authorization endpoint, without its state and challenge.
     *
     * @throws A2AException UNAVAILABLE if the issuer does not answer
     */
    public Map<String, String> request() {
        var request = new LinkedHashMap<String, String>();
        request.put("authorization_endpoint", issuer.signInAddresses().authorization());
        request.put("response_type", "code");
        request.put("client_id", client);
        request.put("redirect_uri", redirect());
        request.put("scope", scope);
        request.put("resource", audience.get());
        request.put("code_challenge_method", "S256");
        return request;
    }

    private String redirect() {
        return hub.get() + "/ui/signin";
    }

    /**
     * Redeems a code.
     *
     * @param address of the client
     * @return the access token
     * @throws A2AException UNAUTHENTICATED if the issuer refuses the code, RATE_LIMITED after many such, UNAVAILABLE if the issuer does not
     *     answer
     */
    public String token(String code, String verifier, String address) {
        var source = new Source(address, null);
        Duration pause = guesses.pause(source);
        if (!pause.isZero()) {
            throw A2AException.of(A2AError.RATE_LIMITED, "Too many wrong credentials")
                    .retryingAfter(pause);
        }
        String token = redeemed(code, verifier);
        if (token == null) {
            guesses.wrong(source);
            throw A2AException.of(
                    A2AError.UNAUTHENTICATED,
                    "The issuer refuses the code (expected: one that it gave this browser just now)");
        }
        return token;
    }

    private @Nullable String redeemed(String code, String verifier) {
        URI endpoint = URI.create(issuer.signInAddresses().token());
        OAuthForm form = new OAuthForm()
                .codeGrant(code, redirect(), verifier)
                .put("client_id", client)
                .put("resource", audience.get());
        try {
            return accessToken(issuer.token(endpoint, form));
        } catch (IOException failure) {
            LOG.log(System.Logger.Level.WARNING, "a code cannot be redeemed at " + endpoint, failure);
            throw A2AException.unavailable("The issuer of tokens does not answer", RETRY);
        } catch (IllegalArgumentException unusable) {
            LOG.log(System.Logger.Level.WARNING, "a token of {0} is of no use: {1}", endpoint, unusable.getMessage());
            throw A2AException.unavailable("The token of the issuer is of no use: " + unusable.getMessage(), RETRY);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The server is stopping", RETRY);
        }
    }

    /** Returns null if the issuer refuses the code. */
    private static @Nullable String accessToken(TokenAnswer answer) throws IOException {
        int status = answer.status();
        if (status >= 400 && status < 500) {
            LOG.log(System.Logger.Level.INFO, "the issuer refuses a code with status {0}", status);
            return null;
        }
        if (status != 200) {
            throw new IOException("status " + status + " (expected: 200)");
        }
        return answer.bearer();
    }
}
