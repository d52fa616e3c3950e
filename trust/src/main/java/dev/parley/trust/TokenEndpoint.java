package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.trust.oauth.OAuthParameters;
import dev.parley.trust.oauth.OAuthRefusal;
import dev.parley.trust.tokens.AccessTokens;
import dev.parley.trust.tokens.AccessTokens.Grant;
import dev.parley.trust.tokens.AccessTokens.Session;
import dev.parley.trust.tokens.Clients;
import dev.parley.trust.tokens.Proofs;
import dev.parley.trust.tokens.SecretAttempts;
import dev.parley.trust.tokens.SecretAttempts.Source;
import dev.parley.trust.tokens.SignIns;
import dev.parley.trust.tokens.SignIns.Issued;
import dev.parley.trust.tokens.SignIns.SignIn;
import java.net.URLDecoder;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives tokens to OAuth clients: by the client credentials grant, and for users who have signed in. Safe for any thread.
 *
 * <p>Source: RFC 6749, sections 2.3.1, 4.1.3, 4.4, 5 and 6.
 *
 * @param server for users; null for clients only that act for themselves
 * @param guesses counts wrong secrets of clients
 */
record TokenEndpoint(
        Callers callers,
        AccessTokens tokens,
        Proofs proofs,
        Supplier<String> hub,
        @Nullable AuthorizationServer server,
        SecretAttempts guesses) {
    /** Wrong secrets for one client from one address, within a minute. */
    static final int MAX_WRONG = 10;

    private static final String BASIC = "basic ";

    /**
     * Registrations and sign-ins of an authorization server for users.
     *
     * @param users returns the user of a token; null if it is no longer good
     */
    record AuthorizationServer(Clients clients, SignIns signIns, Function<Grant, @Nullable Principal> users) {}

    private record Client(String id, String secret) {}

    WireAnswer.Whole answer(WireRequest request) {
        try {
            return granted(request);
        } catch (OAuthRefusal refusal) {
            return refusal.answer();
        }
    }

    private WireAnswer.Whole granted(WireRequest request) throws OAuthRefusal {
        if (!request.method().equals("POST")) {
            throw new OAuthRefusal(405, "invalid_request", "only POST is taken here", Map.of("Allow", "POST"));
        }
        Map<String, String> form = OAuthParameters.ofBody(request);
        String type = form.getOrDefault("grant_type", "");
        if (server != null && (type.equals("authorization_code") || type.equals("refresh_token"))) {
            return ofUser(server, request, type, form);
        }
        Client client = client(request, form);
        Principal caller = authenticated(client, request.address());
        if (type.isEmpty()) {
            throw new OAuthRefusal("invalid_request", "grant_type is missing");
        }
        if (!type.equals("client_credentials")) {
            throw new OAuthRefusal(
                    "unsupported_grant_type",
                    server == null
                            ? "only client_credentials is supported"
                            : "authorization_code, refresh_token and client_credentials are supported");
        }
        var scopes = new TreeSet<>(caller.scopes());
        String asked = form.getOrDefault("scope", "").strip();
        if (!asked.isEmpty()) {
            scopes.clear();
            scopes.addAll(List.of(asked.split(" +", -1)));
            if (!caller.scopes().containsAll(scopes)) {
                throw new OAuthRefusal("invalid_scope", "the client was not granted all of these");
            }
        }
        Set<String> granted = AgentScopes.kept(scopes, caller.scopes());
        return issued(new Grant(caller.name(), client.id(), granted, boundTo(request)), "");
    }

    private WireAnswer.Whole issued(Grant grant, String refreshToken) {
        var body = new LinkedHashMap<String, Object>();
        body.put("access_token", tokens.issue(grant));
        body.put("token_type", grant.boundTo() == null ? "Bearer" : "DPoP");
        body.put("expires_in", AccessTokens.LIFE.toSeconds());
        if (!refreshToken.isEmpty()) {
            body.put("refresh_token", refreshToken);
        }
        if (!grant.scopes().isEmpty() || !refreshToken.isEmpty()) {
            body.put("scope", String.join(" ", grant.scopes()));
        }
        return OAuthRefusal.json(200, Map.of(), body);
    }

    /** Gives tokens of a user to a client that has registered itself. Source: RFC 6749, sections 4.1.3 and 6. */
    private WireAnswer.Whole ofUser(
            AuthorizationServer server, WireRequest request, String type, Map<String, String> form)
            throws OAuthRefusal {
        Clients.Client client = registered(server, request, form);
        String boundTo = boundTo(request);
        String resource = form.containsKey("resource") ? AuthorizationEndpoint.resource(hub.get(), form) : null;
        Issued issued = (type.equals("authorization_code")
                        ? server.signIns()
                                .redeem(
                                        required(form, "code"),
                                        client,
                                        form.getOrDefault(
                                                "redirect_uri",
                                                client.redirects().getFirst()),
                                        required(form, "code_verifier"))
                        : server.signIns().refresh(required(form, "refresh_token"), client))
                .orElseThrow(
                        () -> new OAuthRefusal("invalid_grant", "not known, of another client, or no longer good"));
        SignIn signIn = issued.signIn();
        if (resource != null && !resource.equals(signIn.resource()) && !resource.startsWith(signIn.resource() + "/")) {
            throw new OAuthRefusal(
                    "invalid_target", "resource (expected: " + signIn.resource() + ", or an address below)");
        }
        var session = new Session(
                signIn.id(),
                signIn.user().group(),
                signIn.user().key(),
                resource == null ? signIn.resource() : resource);
        var grant = new Grant(signIn.user().name(), client.id(), signIn.scopes(), boundTo, session);
        if (server.users().apply(grant) == null) {
            throw new OAuthRefusal("invalid_grant", "the user or its key is no longer good");
        }
        return issued(grant, issued.refreshToken());
    }

    private static String required(Map<String, String> form, String name) throws OAuthRefusal {
        String value = form.get(name);
        if (value == null) {
            throw new OAuthRefusal("invalid_request", name + " is missing");
        }
        return value;
    }

    /** The client of a request. A client that keeps a secret has to send it. */
    private Clients.Client registered(AuthorizationServer server, WireRequest request, Map<String, String> form)
            throws OAuthRefusal {
        boolean hasSecret = request.header("Authorization") != null || form.containsKey("client_secret");
        Client sent = hasSecret ? client(request, form) : new Client(form.getOrDefault("client_id", ""), "");
        Clients.Client client = server.clients().find(sent.id());
        if (client == null
                || !(client.isPublic() && sent.secret().isEmpty()
                        || server.clients().isSecret(client, sent.secret()))) {
            throw unknown("no such client, or another secret");
        }
        return client;
    }

    /** Source: RFC 9449, section 5. */
    private @Nullable String boundTo(WireRequest request) throws OAuthRefusal {
        if (request.header(Proofs.HEADER) == null) {
            return null;
        }
        String holder = proofs.holder(request.arrival(), hub.get() + ResourceMetadata.TOKEN_PATH);
        if (holder == null) {
            throw new OAuthRefusal("invalid_dpop_proof", "the proof does not fit, is too old, or was shown before");
        }
        return holder;
    }

    private Principal authenticated(Client client, String address) throws OAuthRefusal {
        // Each id is counted, known or not: otherwise 429 and 401 would tell which ids exist.
        var source = new Source(address, Denials.shortened(client.id()));
        requireNoPause(source);
        Principal caller = callers.byClient(client.id(), client.secret());
        if (caller == null) {
            guesses.wrong(source);
            // All wrong ones of an address count together too, which keeps no other client at it from its token.
            var together = new Source(address, null);
            requireNoPause(together);
            guesses.wrong(together);
            throw unknown("no such client, or another secret");
        }
        return caller;
    }

    private void requireNoPause(Source source) throws OAuthRefusal {
        Duration pause = guesses.pause(source);
        if (!pause.isZero()) {
            String seconds = Long.toString(pause.plusMillis(999).toSeconds());
            throw new OAuthRefusal(
                    429, "temporarily_unavailable", "too many wrong secrets", Map.of("Retry-After", seconds));
        }
    }

    /** Either header or form, by whichever the client prefers; both at once are one too many. */
    private static Client client(WireRequest request, Map<String, String> form) throws OAuthRefusal {
        String header = request.header("Authorization");
        String id = form.get("client_id");
        String secret = form.get("client_secret");
        if (header == null) {
            if (id == null || secret == null) {
                throw unknown("client_id and client_secret are missing");
            }
            return new Client(id, secret);
        }
        if (secret != null) {
            throw new OAuthRefusal("invalid_request", "the client authenticates twice");
        }
        Client basic = basic(header);
        if (id != null && !id.equals(basic.id())) {
            throw new OAuthRefusal("invalid_request", "client_id names another client");
        }
        return basic;
    }

    private static Client basic(String header) throws OAuthRefusal {
        if (header.toLowerCase(Locale.ROOT).startsWith(BASIC)) {
            try {
                String pair = new String(
                        Base64.getDecoder()
                                .decode(header.substring(BASIC.length()).strip()),
                        UTF_8);
                int colon = pair.indexOf(':');
                if (colon >= 0) {
                    return new Client(
                            URLDecoder.decode(pair.substring(0, colon), UTF_8),
                            URLDecoder.decode(pair.substring(colon + 1), UTF_8));
                }
            } catch (IllegalArgumentException malformed) {
                throw unknown("the header Authorization is malformed");
            }
        }
        throw unknown("the header Authorization is not of the scheme Basic");
    }

    private static OAuthRefusal unknown(String description) {
        return new OAuthRefusal(
                401, "invalid_client", description, Map.of("WWW-Authenticate", "Basic realm=\"parley\""));
    }
}
