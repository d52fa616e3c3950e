package dev.parley.outbound;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.outbound.http.LimitedBytes;
import dev.parley.outbound.http.LimitedClient;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Sha256;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Request to an authorization server: its parameters in their order, and the authentication of the client. For one thread.
 *
 * <p>Source: RFC 6749, sections 2.3.1, 4 and 6, appendix B; RFC 7523; RFC 7636; RFC 8628; RFC 8693.
 */
public final class OAuthForm {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int MAX_BYTES = 256 * 1024;
    private static final String URN = "urn:ietf:params:oauth:";
    private static final String ACCESS_TOKEN = URN + "token-type:access_token";

    private final Map<String, String> parameters = new LinkedHashMap<>();
    private @Nullable String authorization;

    /** Adds a parameter, unless its value is null, and returns this form. */
    public OAuthForm put(String name, @Nullable String value) {
        if (value != null) {
            parameters.put(name, value);
        }
        return this;
    }

    /** Adds the client, with its secret if it authenticates by the form. Source: RFC 6749, section 2.3.1. */
    public OAuthForm client(String id, @Nullable String secret) {
        return put("client_id", id).put("client_secret", secret);
    }

    /** Has the client authenticate by the header instead of the form. Source: RFC 6749, section 2.3.1. */
    public OAuthForm basicClient(String id, String secret) {
        String pair = URLEncoder.encode(id, UTF_8) + ":" + URLEncoder.encode(secret, UTF_8);
        authorization = "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(UTF_8));
        return this;
    }

    /**
     * Adds the client with an assertion that is valid for five minutes. Source: RFC 7523, section 2.2.
     *
     * @param audience issuer of the authorization server
     * @param key PKCS #8 key of P-256 in PEM
     * @throws GeneralSecurityException if the key cannot be used; nothing was added
     */
    public OAuthForm client(String id, String audience, String key) throws GeneralSecurityException {
        long now = Instant.now().getEpochSecond();
        var claims = new LinkedHashMap<String, @Nullable Object>();
        List.of("iss", "sub").forEach(name -> claims.put(name, id));
        claims.put("aud", audience);
        claims.put("jti", random());
        claims.put("iat", now);
        claims.put("exp", now + 300);
        String text = base64("{\"alg\":\"ES256\",\"typ\":\"JWT\"}".getBytes(US_ASCII)) + "."
                + base64(JsonText.write(Codecs.STRUCT, claims));
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(privateKey(key));
        signature.update(text.getBytes(US_ASCII));
        return client(id, null)
                .put("client_assertion_type", URN + "client-assertion-type:jwt-bearer")
                .put("client_assertion", text + "." + base64(signature.sign()));
    }

    private static PrivateKey privateKey(String pem) throws GeneralSecurityException {
        try {
            byte[] key = Base64.getDecoder().decode(pem.replaceAll("-----[A-Z ]+-----|\\s", ""));
            return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(key));
        } catch (IllegalArgumentException noBase64) {
            throw new InvalidKeyException("a key that is not in PEM", noBase64);
        }
    }

    /** Adds the scopes, if there are any. */
    public OAuthForm scopes(Collection<String> scopes) {
        return put("scope", scopes.isEmpty() ? null : String.join(" ", scopes));
    }

    /** Adds the parameters that ask for a code, which only the verifier can redeem. Source: RFC 7636, section 4.3. */
    public OAuthForm codeRequest(String clientId, String redirect, String state, String verifier) {
        return put("response_type", "code")
                .put("client_id", clientId)
                .put("redirect_uri", redirect)
                .put("state", state)
                .put("code_challenge", base64(Sha256.of(verifier)))
                .put("code_challenge_method", "S256");
    }

    /** Adds the parameters that redeem a code. Source: RFC 7636, section 4.5. */
    public OAuthForm codeGrant(String code, String redirect, String verifier) {
        return put("grant_type", "authorization_code")
                .put("code", code)
                .put("redirect_uri", redirect)
                .put("code_verifier", verifier);
    }

    /** Adds the parameter that asks for a token of the client itself. Source: RFC 6749, section 4.4.2. */
    public OAuthForm credentialsGrant() {
        return put("grant_type", "client_credentials");
    }

    /** Adds the parameters that ask for the next token. Source: RFC 6749, section 6. */
    public OAuthForm refreshGrant(String refreshToken) {
        return put("grant_type", "refresh_token").put("refresh_token", refreshToken);
    }

    /** Adds the parameters that ask for the token of a user who types a code. Source: RFC 8628, section 3.4. */
    public OAuthForm deviceGrant(String deviceCode) {
        return put("grant_type", URN + "grant-type:device_code").put("device_code", deviceCode);
    }

    /** Adds the parameters that exchange the access token of a principal. Source: RFC 8693, section 2.1. */
    public OAuthForm exchangeGrant(String accessToken) {
        return put("grant_type", URN + "grant-type:token-exchange")
                .put("subject_token", accessToken)
                .put("subject_token_type", ACCESS_TOKEN)
                .put("requested_token_type", ACCESS_TOKEN);
    }

    /** Returns a state or verifier that cannot be guessed, of 256 random bits. */
    public static String random() {
        var bytes = new byte[32];
        RANDOM.nextBytes(bytes);
        return base64(bytes);
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** Returns the parameters as bodies and queries have them. */
    public String text() {
        return parameters.entrySet().stream()
                .map(each -> URLEncoder.encode(each.getKey(), UTF_8) + "=" + URLEncoder.encode(each.getValue(), UTF_8))
                .collect(Collectors.joining("&"));
    }

    /**
     * Posts the form, and reads the answer of any status up to 256 KiB. Blocks.
     *
     * @param http for the addresses of the authorization server; follows no redirects
     * @param partition as in {@link LimitedClient#sendAsync}
     * @param limit longest duration
     * @throws HttpTimeoutException if there is no whole answer within the limit
     * @throws LimitedBytes.TooLarge if it is longer
     */
    public TokenAnswer send(HttpClient http, @Nullable Object partition, URI endpoint, Duration limit)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(endpoint)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("Accept", "application/json")
                .POST(BodyPublishers.ofString(text()));
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        HttpResponse<byte[]> answer =
                LimitedClient.exchange(http, request.build(), head -> new LimitedBytes(MAX_BYTES), partition, limit);
        return TokenAnswer.of(answer.statusCode(), answer.headers(), answer.body());
    }

    /** Returns an endpoint with the parameters in its query, after those that it has. */
    public URI appendedTo(URI endpoint) {
        return URI.create(endpoint + (endpoint.getRawQuery() == null ? "?" : "&") + text());
    }

    /** Reads the query of a redirect; null for none. A name or value that cannot be decoded is empty. */
    public static Map<String, String> read(@Nullable String query) {
        var values = new LinkedHashMap<String, String>();
        for (String pair : query == null ? new String[0] : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                values.put(decoded(pair.substring(0, equals)), decoded(pair.substring(equals + 1)));
            }
        }
        return values;
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, UTF_8);
        } catch (IllegalArgumentException malformed) {
            return "";
        }
    }
}
