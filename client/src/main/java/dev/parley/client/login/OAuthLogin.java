package dev.parley.client.login;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.parley.client.oauth.TokenEndpointRule;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.outbound.OAuthForm;
import dev.parley.outbound.TokenAnswer;
import dev.parley.outbound.http.Http1Client;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.HttpUrl.Origin;
import dev.parley.outbound.http.Redaction;
import dev.parley.protocol.SecurityScheme.Flow;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Gets an access token for a user: by authorization code with PKCE, through a browser on this machine, or by device code, through a
 * browser anywhere. For one login at a time; blocks, with a bound.
 *
 * <p>Source: RFC 6749, section 4.1; RFC 7636 (PKCE); RFC 8252 (native apps); RFC 8628 (device code).
 */
public final class OAuthLogin {
    /**
     * Tokens of a user, and where they are renewed.
     *
     * @param text the access token
     * @param life of the access token; null if the server does not say
     * @param refresh token that gets the next access token; null if the server gave none
     * @param clientId as which this program got them
     * @param tokenUrl where they are renewed
     */
    public record Token(
            String text, @Nullable Duration life, @Nullable String refresh, String clientId, String tokenUrl) {
        @Override
        public String toString() {
            return "Token[" + Redaction.MASK + "]";
        }
    }

    /**
     * Instructions for the user.
     *
     * @param url to open in a browser
     * @param code to type there; null if the address has it
     */
    public record Prompt(URI url, @Nullable String code) {}

    private static final Duration CALL = Duration.ofSeconds(30);
    private static final Duration SLOWER = Duration.ofSeconds(5);
    private static final int LONGEST_REQUEST_LINE = 8 * 1024;
    private static final String CALLBACK = "/callback?";

    private final String clientId;
    private final Set<Origin> allowed;
    private final Duration patience;
    private final @Nullable SSLContext tls;

    /**
     * @param clientId as the authorization server knows this program
     * @param allowedOrigins to which a card may lead: the authorization servers that the user trusts
     * @param patience how long the user may take
     * @param tls trust in the certificates of authorization servers; null for the platform's
     * @throws IllegalArgumentException if an origin is not an http or https URL
     */
    public OAuthLogin(String clientId, Collection<String> allowedOrigins, Duration patience, @Nullable SSLContext tls) {
        this.tls = tls;
        this.clientId = clientId;
        this.allowed = allowedOrigins.stream()
                .map(origin -> HttpUrl.of(origin).origin())
                .collect(Collectors.toUnmodifiableSet());
        this.patience = patience;
    }

    /**
     * Logs in through a browser, which comes back to a port of this machine.
     *
     * @param show gets the address to open
     * @throws ClientException if an address of the flow is not allowed, the user refuses or is too slow, or there is no token
     */
    public Token byCode(Flow.AuthorizationCode flow, Collection<String> scopes, Consumer<Prompt> show)
            throws InterruptedException {
        HttpUrl authorization = allowed("authorizationUrl", flow.authorizationUrl());
        HttpUrl tokens = allowed("tokenUrl", flow.tokenUrl());
        HttpUrl renewal = renewal(tokens, flow.refreshUrl());
        String state = OAuthForm.random();
        String verifier = OAuthForm.random();
        try (var callback = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            String redirect = "http://127.0.0.1:" + callback.getLocalPort() + "/callback";
            OAuthForm query = new OAuthForm().codeRequest(clientId, redirect, state, verifier);
            show.accept(new Prompt(query.scopes(scopes).appendedTo(authorization.uri()), null));

            String code = code(callback, state, tokens);
            return token(tokens, renewal, answer(tokens, new OAuthForm().codeGrant(code, redirect, verifier)), null);
        } catch (IOException failed) {
            throw new ClientException(Problem.NO_TOKEN, "no port for the browser to come back to: " + failed, failed);
        }
    }

    /**
     * Logs in through a browser on any machine, where the user types a code.
     *
     * @param show gets the address to open and the code
     * @throws ClientException if an address of the flow is not allowed, the user refuses or is too slow, or there is no token
     */
    public Token byDevice(Flow.DeviceCode flow, Collection<String> scopes, Consumer<Prompt> show)
            throws InterruptedException {
        HttpUrl devices = allowed("deviceAuthorizationUrl", flow.deviceAuthorizationUrl());
        HttpUrl tokens = allowed("tokenUrl", flow.tokenUrl());
        HttpUrl renewal = renewal(tokens, flow.refreshUrl());
        Map<?, ?> device = answer(devices, new OAuthForm().scopes(scopes)).members();
        if (!(device.get("device_code") instanceof String code)
                || !(device.get("user_code") instanceof String typed)
                || !(device.get("verification_uri") instanceof String place)) {
            throw refused(devices, device.get("error"));
        }
        show.accept(new Prompt(HttpUrl.of(place).uri(), typed));
        Duration interval = device.get("interval") instanceof Number seconds
                ? Duration.ofSeconds(Math.clamp(seconds.longValue(), 1, 60))
                : SLOWER;
        long end = System.nanoTime() + patience.toNanos();
        while (end - System.nanoTime() > 0) {
            TimeUnit.NANOSECONDS.sleep(Math.min(interval.toNanos(), Math.max(1, end - System.nanoTime())));
            TokenAnswer answer = answer(tokens, new OAuthForm().deviceGrant(code));
            switch (String.valueOf(answer.members().get("error"))) {
                case "authorization_pending" -> {} // the user has not typed the code yet
                case "slow_down" -> interval = interval.plus(SLOWER);
                default -> {
                    return token(tokens, renewal, answer, null);
                }
            }
        }
        throw tooLate();
    }

    /**
     * Gets the next access token of a login. The server may give another refresh token, which then replaces the one that was used.
     *
     * @throws ClientException if the address is not allowed, AUTHENTICATION_FAILED if the server does not renew this login, or if the
     *     server gives no token
     */
    public Token renew(String tokenUrl, String refresh) throws InterruptedException {
        HttpUrl tokens = allowed("tokenUrl", tokenUrl);
        return token(tokens, tokens, answer(tokens, new OAuthForm().refreshGrant(refresh)), refresh);
    }

    /** Waits for the browser. Whatever else calls the port, such as another program of this machine, has not the state. */
    private String code(ServerSocket callback, String state, HttpUrl server) throws IOException {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw tooLate();
            }
            callback.setSoTimeout((int) Math.min(left, Integer.MAX_VALUE));
            try (Socket browser = callback.accept()) {
                browser.setSoTimeout((int) Math.min(left, CALL.toMillis()));
                Map<String, String> query = query(browser);
                boolean ours = state.equals(query.get("state"));
                answer(browser, ours ? "Done. You can close this page." : "This page belongs to no login.");
                if (ours && query.get("code") != null) {
                    return query.get("code");
                }
                if (ours) {
                    throw refused(server, query.get("error"));
                }
            } catch (SocketTimeoutException slow) {
                // No connection, or a silent one; the loop checks the deadline.
            }
        }
    }

    /** The parameters of the first line of a request. */
    private static Map<String, String> query(Socket browser) throws IOException {
        var reader = new BufferedReader(new InputStreamReader(browser.getInputStream(), US_ASCII));
        var line = new StringBuilder();
        for (int c = reader.read(); c >= 0 && c != '\r' && c != '\n' && line.length() < LONGEST_REQUEST_LINE; ) {
            line.append((char) c);
            c = reader.read();
        }
        String[] words = line.toString().split(" ", -1);
        boolean isOurs = words.length > 1 && words[0].equals("GET") && words[1].startsWith(CALLBACK);
        return OAuthForm.read(isOurs ? words[1].substring(CALLBACK.length()) : null);
    }

    private static void answer(Socket browser, String text) throws IOException {
        byte[] body = text.getBytes(US_ASCII);
        browser.getOutputStream()
                .write(("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: "
                                + body.length + "\r\n\r\n" + text)
                        .getBytes(US_ASCII));
        browser.getOutputStream().flush();
    }

    private TokenAnswer answer(HttpUrl url, OAuthForm form) throws InterruptedException {
        try (HttpClient http = Http1Client.of(CALL, tls)) {
            TokenAnswer answer = form.client(clientId, null).send(http, null, url.uri(), CALL);
            if (!answer.isObject()) {
                throw TokenEndpointRule.noToken(url, "no JSON object");
            }
            return answer;
        } catch (IOException failed) {
            throw new ClientException(Problem.UNREACHABLE, url.origin() + " cannot be reached", failed);
        }
    }

    /** The address of renewals: that of the first token, unless the card names another one. */
    private HttpUrl renewal(HttpUrl tokens, @Nullable String refreshUrl) {
        return refreshUrl == null ? tokens : allowed("refreshUrl", refreshUrl);
    }

    /** @param held refresh token that stays in use if the server gives no other one; null for none */
    private Token token(HttpUrl server, HttpUrl renewal, TokenAnswer answer, @Nullable String held) {
        String text = TokenEndpointRule.bearer(server, answer);
        if (text == null) {
            throw refused(server, answer.members().get("error"));
        }
        String next = answer.text("refresh_token");
        String refresh = next == null ? held : next;
        return new Token(text, answer.life(), refresh, clientId, renewal.uri().toString());
    }

    private static ClientException refused(HttpUrl server, @Nullable Object named) {
        String error = String.valueOf(named).replaceAll("[^\\x20-\\x7e]", "?");
        return new ClientException(
                Problem.AUTHENTICATION_FAILED,
                server.origin() + " gives no token (" + error.substring(0, Math.min(error.length(), 100)) + ")");
    }

    private ClientException tooLate() {
        return new ClientException(Problem.TIMED_OUT, "no login within " + patience.toSeconds() + " s");
    }

    private HttpUrl allowed(String member, String address) {
        HttpUrl url = TokenEndpointRule.url(member, address);
        if (!allowed.contains(url.origin())) {
            throw new ClientException(
                    Problem.ORIGIN_NOT_ALLOWED,
                    "the agent's card leads to another origin for the login: " + url.origin());
        }
        return url;
    }
}
