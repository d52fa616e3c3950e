package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.trust.tokens.AccessTokens;
import dev.parley.trust.tokens.AccessTokens.Grant;
import dev.parley.trust.tokens.Guesses;
import dev.parley.trust.tokens.Guesses.Source;
import dev.parley.trust.tokens.Proofs;
import java.net.URLDecoder;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives tokens to OAuth clients by the client credentials grant. Safe for any thread.
 *
 * <p>Source: RFC 6749, sections 2.3.1, 4.4 and 5.
 */
final class TokenEndpoint {
    /** Wrong secrets for one client from one address, within a minute. */
    static final int MAX_WRONG = 10;

    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String BASIC = "basic ";

    private final Callers callers;
    private final AccessTokens tokens;
    private final Proofs proofs;
    private final Supplier<String> hub;
    private final Guesses guesses;

    TokenEndpoint(Callers callers, AccessTokens tokens, Proofs proofs, Supplier<String> hub, InstantSource clock) {
        this.proofs = proofs;
        this.hub = hub;
        this.callers = callers;
        this.tokens = tokens;
        this.guesses = new Guesses(clock, MAX_WRONG);
    }

    /** A refused request, with the error for the client. */
    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        private final int status;
        private final String error;
        private final transient Map<String, String> headers;

        Refused(int status, String error, String description, Map<String, String> headers) {
            super(description, null, false, false);
            this.status = status;
            this.error = error;
            this.headers = headers;
        }

        Refused(String error, String description) {
            this(400, error, description, Map.of());
        }
    }

    private record Client(String id, String secret) {}

    WireAnswer.Whole answer(WireRequest request) {
        try {
            return granted(request);
        } catch (Refused refused) {
            var body = new LinkedHashMap<String, Object>();
            body.put("error", refused.error);
            body.put("error_description", String.valueOf(refused.getMessage()));
            return answer(refused.status, refused.headers, body);
        }
    }

    private WireAnswer.Whole granted(WireRequest request) throws Refused {
        if (!request.method().equals("POST")) {
            throw new Refused(405, "invalid_request", "only POST is taken here", Map.of("Allow", "POST"));
        }
        Map<String, String> form = form(request);
        Client client = client(request, form);
        Principal caller = authenticated(client, request.address());
        String type = form.get("grant_type");
        if (type == null) {
            throw new Refused("invalid_request", "grant_type is missing");
        }
        if (!type.equals("client_credentials")) {
            throw new Refused("unsupported_grant_type", "only client_credentials is supported");
        }
        var scopes = new TreeSet<>(caller.scopes());
        String asked = form.getOrDefault("scope", "").strip();
        if (!asked.isEmpty()) {
            scopes.clear();
            scopes.addAll(List.of(asked.split(" +", -1)));
            if (!caller.scopes().containsAll(scopes)) {
                throw new Refused("invalid_scope", "the client was not granted all of these");
            }
        }
        var body = new LinkedHashMap<String, Object>();
        String boundTo = boundTo(request);
        body.put("access_token", tokens.issue(new Grant(caller.name(), client.id(), scopes, boundTo)));
        body.put("token_type", boundTo == null ? "Bearer" : "DPoP");
        body.put("expires_in", AccessTokens.LIFE.toSeconds());
        if (!scopes.isEmpty()) {
            body.put("scope", String.join(" ", scopes));
        }
        return answer(200, Map.of(), body);
    }

    /** Source: RFC 9449, section 5. */
    private @Nullable String boundTo(WireRequest request) throws Refused {
        if (request.header(Proofs.HEADER) == null) {
            return null;
        }
        String holder = proofs.holder(request.arrival(), hub.get() + Trust.TOKEN_PATH);
        if (holder == null) {
            throw new Refused("invalid_dpop_proof", "the proof does not fit, is too old, or was shown before");
        }
        return holder;
    }

    private Principal authenticated(Client client, String address) throws Refused {
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

    private void requireNoPause(Source source) throws Refused {
        Duration pause = guesses.pause(source);
        if (!pause.isZero()) {
            String seconds = Long.toString(pause.plusMillis(999).toSeconds());
            throw new Refused(429, "temporarily_unavailable", "too many wrong secrets", Map.of("Retry-After", seconds));
        }
    }

    /** Either header or form, by whichever the client prefers; both at once are one too many. */
    private static Client client(WireRequest request, Map<String, String> form) throws Refused {
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
            throw new Refused("invalid_request", "the client authenticates twice");
        }
        Client basic = basic(header);
        if (id != null && !id.equals(basic.id())) {
            throw new Refused("invalid_request", "client_id names another client");
        }
        return basic;
    }

    private static Client basic(String header) throws Refused {
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
        throw unknown("the header Authorization is none of Basic");
    }

    private static Refused unknown(String description) {
        return new Refused(401, "invalid_client", description, Map.of("WWW-Authenticate", "Basic realm=\"parley\""));
    }

    private static Map<String, String> form(WireRequest request) throws Refused {
        String type = request.header("Content-Type");
        if (type == null
                || !type.toLowerCase(Locale.ROOT).split(";", 2)[0].strip().equals(FORM)) {
            throw new Refused("invalid_request", "a form is expected: " + FORM);
        }
        if (request.body().length > Trust.MAX_FORM_BYTES) {
            throw new Refused("invalid_request", "the form is too long");
        }
        var form = new LinkedHashMap<String, String>();
        for (String pair : new String(request.body(), UTF_8).split("&", -1)) {
            int equals = pair.indexOf('=');
            if (equals > 0 && equals < pair.length() - 1 && form.put(decoded(pair, 0, equals), value(pair)) != null) {
                throw new Refused("invalid_request", "a parameter is given twice");
            }
        }
        return form;
    }

    private static String value(String pair) throws Refused {
        return decoded(pair, pair.indexOf('=') + 1, pair.length());
    }

    private static String decoded(String pair, int from, int to) throws Refused {
        try {
            return URLDecoder.decode(pair.substring(from, to), UTF_8);
        } catch (IllegalArgumentException malformed) {
            throw new Refused("invalid_request", "the form is malformed");
        }
    }

    private static WireAnswer.Whole answer(int status, Map<String, String> more, Map<String, Object> body) {
        var headers = new LinkedHashMap<>(more);
        headers.put("Content-Type", "application/json");
        headers.put("Cache-Control", "no-store");
        headers.put("Pragma", "no-cache");
        return new WireAnswer.Whole(status, headers, Json.write(body));
    }
}
