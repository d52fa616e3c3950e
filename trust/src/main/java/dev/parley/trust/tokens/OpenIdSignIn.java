package dev.parley.trust.tokens;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.util.JSONObjectUtils;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.trust.tokens.Guesses.Source;
import dev.parley.trust.tokens.Issuer.SignInAddresses;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.text.ParseException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
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
        Issuer issuer, String client, String scope, Supplier<String> hub, Supplier<String> audience, Guesses guesses) {
    private static final System.Logger LOG = System.getLogger("dev.parley.trust");
    private static final Duration RETRY = Duration.ofSeconds(10);
    private static final int PATIENCE_MS = 5_000;
    private static final int MAX_BYTES = 256 * 1024;

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
        SignInAddresses addresses = issuer.signInAddresses();
        var form = new LinkedHashMap<String, String>();
        form.put("grant_type", "authorization_code");
        form.put("code", code);
        form.put("redirect_uri", redirect());
        form.put("client_id", client);
        form.put("code_verifier", verifier);
        form.put("resource", audience.get());
        try {
            return redeemed(URI.create(addresses.token()), encoded(form));
        } catch (IOException | ParseException failure) {
            LOG.log(System.Logger.Level.WARNING, "a code cannot be redeemed at " + addresses.token(), failure);
            throw A2AException.unavailable("The issuer of tokens does not answer", RETRY);
        }
    }

    private static byte[] encoded(Map<String, String> form) {
        return form.entrySet().stream()
                .map(member -> member.getKey() + "=" + URLEncoder.encode(member.getValue(), UTF_8))
                .collect(Collectors.joining("&"))
                .getBytes(UTF_8);
    }

    private static @Nullable String redeemed(URI address, byte[] form) throws IOException, ParseException {
        var connection = (HttpURLConnection) address.toURL().openConnection();
        try {
            connection.setConnectTimeout(PATIENCE_MS);
            connection.setReadTimeout(PATIENCE_MS);
            connection.setInstanceFollowRedirects(false);
            connection.setRequestMethod("POST");
            connection.setRequestProperty("Content-Type", "application/x-www-form-urlencoded");
            connection.setRequestProperty("Accept", "application/json");
            connection.setDoOutput(true);
            try (OutputStream out = connection.getOutputStream()) {
                out.write(form);
            }
            int status = connection.getResponseCode();
            if (status >= 400 && status < 500) {
                LOG.log(System.Logger.Level.INFO, "the issuer refuses a code with status {0}", status);
                return null;
            }
            if (status != 200) {
                throw new IOException("status " + status + " (expected: 200)");
            }
            try (InputStream in = connection.getInputStream()) {
                String answer = new String(in.readNBytes(MAX_BYTES), UTF_8);
                return JSONObjectUtils.getString(JSONObjectUtils.parse(answer), "access_token");
            }
        } finally {
            connection.disconnect();
        }
    }
}
