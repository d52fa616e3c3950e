package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AException;
import dev.parley.trust.oauth.ConsentPage;
import dev.parley.trust.oauth.OAuthParameters;
import dev.parley.trust.oauth.OAuthRefusal;
import dev.parley.trust.tokens.Clients;
import dev.parley.trust.tokens.Clients.Client;
import dev.parley.trust.tokens.SecretAttempts;
import dev.parley.trust.tokens.SecretAttempts.Source;
import dev.parley.trust.tokens.SignIns;
import java.net.URLEncoder;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Registers OAuth clients, and asks users whether a client may call the agents as them. Safe for any thread.
 *
 * <p>Source: RFC 6749, section 4.1; RFC 7591, section 3; RFC 7636; RFC 8707; RFC 9207; RFC 9700.
 *
 * @param users returns the user of an API key; null for none
 * @param limits takes a sign-in from the limits of its user, and returns what gives it back
 * @param guesses counts wrong keys of users
 */
record AuthorizationEndpoint(
        Clients clients,
        SignIns signIns,
        Function<String, @Nullable SignedIn> users,
        Function<Principal, Runnable> limits,
        Supplier<String> hub,
        SecretAttempts guesses,
        InstantSource clock) {
    private static final String CODE = "code";
    private static final String CHALLENGE = "[A-Za-z0-9_-]{43}";
    private static final int LONGEST_STATE = 2048;
    private static final Set<String> GRANTS = Set.of("authorization_code", "refresh_token");
    /** Parameters that come back with the answer of the user. */
    private static final List<String> ASKED = List.of(
            "response_type",
            "client_id",
            "redirect_uri",
            "state",
            "scope",
            "resource",
            "code_challenge",
            "code_challenge_method");

    /** A user by an API key, with the id of the key in the directory; empty for one of the configuration. */
    record SignedIn(Principal principal, String key) {}

    // ---- Registration

    /** Answers a client that registers itself. */
    WireAnswer.Whole register(WireRequest request) {
        try {
            if (!request.method().equals("POST")) {
                throw new OAuthRefusal(405, "invalid_request", "only POST is taken here", Map.of("Allow", "POST"));
            }
            return registered(metadata(request));
        } catch (OAuthRefusal refusal) {
            return refusal.answer();
        }
    }

    private static Map<?, ?> metadata(WireRequest request) throws OAuthRefusal {
        try {
            return Json.read(request.body(), Map.class);
        } catch (A2AException malformed) {
            throw new OAuthRefusal("invalid_client_metadata", "no JSON object");
        }
    }

    private WireAnswer.Whole registered(Map<?, ?> metadata) throws OAuthRefusal {
        List<String> grants = texts(metadata, "grant_types", List.of("authorization_code"));
        if (!GRANTS.containsAll(grants) || !grants.contains("authorization_code")) {
            throw new OAuthRefusal(
                    "invalid_client_metadata",
                    "grant_types: " + grants + " (expected: authorization_code, and refresh_token if wanted)");
        }
        if (!texts(metadata, "response_types", List.of(CODE)).equals(List.of(CODE))) {
            throw new OAuthRefusal("invalid_client_metadata", "response_types (expected: code)");
        }
        String method = text(metadata, "token_endpoint_auth_method", "client_secret_basic");
        if (!Clients.METHODS.contains(method)) {
            throw new OAuthRefusal(
                    "invalid_client_metadata",
                    "token_endpoint_auth_method (expected: one of " + String.join(", ", Clients.METHODS) + ")");
        }
        Client client;
        try {
            client = clients.register(
                    text(metadata, "client_name", ""),
                    texts(metadata, "redirect_uris", List.of()),
                    method,
                    clock.instant());
        } catch (IllegalArgumentException bad) {
            throw new OAuthRefusal("invalid_redirect_uri", String.valueOf(bad.getMessage()));
        }
        var body = new LinkedHashMap<String, Object>();
        body.put("client_id", client.id());
        body.put("client_id_issued_at", client.made().getEpochSecond());
        if (!client.isPublic()) {
            body.put("client_secret", clients.secret(client));
            body.put("client_secret_expires_at", 0);
        }
        body.put("client_name", client.name());
        body.put("redirect_uris", client.redirects());
        body.put("grant_types", grants);
        body.put("response_types", List.of(CODE));
        body.put("token_endpoint_auth_method", method);
        return OAuthRefusal.json(201, Map.of(), body);
    }

    private static String text(Map<?, ?> metadata, String name, String absent) throws OAuthRefusal {
        Object value = metadata.get(name);
        if (value != null && !(value instanceof String)) {
            throw new OAuthRefusal("invalid_client_metadata", name + " (expected: a string)");
        }
        return value == null ? absent : (String) value;
    }

    private static List<String> texts(Map<?, ?> metadata, String name, List<String> absent) throws OAuthRefusal {
        Object value = metadata.get(name);
        if (value == null) {
            return absent;
        }
        if (!(value instanceof List<?> list) || !list.stream().allMatch(String.class::isInstance)) {
            throw new OAuthRefusal("invalid_client_metadata", name + " (expected: a list of strings)");
        }
        return list.stream().map(String.class::cast).toList();
    }

    // ---- Consent

    /** Answers a browser that a client has sent: with the page, and the answer of the user with the way back to the client. */
    WireAnswer.Whole authorize(WireRequest request) {
        boolean answered = request.method().equals("POST");
        if (!answered && !request.method().equals("GET")) {
            throw A2AException.notAllowed(request.method(), "GET, HEAD, POST");
        }
        Map<String, String> form;
        Client client;
        String redirect;
        try {
            form = answered ? OAuthParameters.ofBody(request) : OAuthParameters.ofQuery(request);
            client = client(form);
            redirect = redirect(client, form);
        } catch (OAuthRefusal refusal) {
            return ConsentPage.refuse(400, refusal.description());
        }
        try {
            requireCode(form);
            Set<String> scopes = scopes(form);
            String resource = resource(hub.get(), form);
            if (!answered) {
                return page(client, redirect, scopes, form, 200, "");
            }
            return switch (form.getOrDefault("decision", "")) {
                case "allow" -> allowed(request, client, redirect, scopes, resource, form);
                case "deny" -> throw new OAuthRefusal("access_denied", "the user has denied access");
                default -> throw new OAuthRefusal("invalid_request", "no decision of the user");
            };
        } catch (OAuthRefusal refusal) {
            var answer = new LinkedHashMap<String, String>();
            answer.put("error", refusal.error());
            answer.put("error_description", refusal.description());
            return back(redirect, form, answer);
        }
    }

    private Client client(Map<String, String> form) throws OAuthRefusal {
        String id = form.get("client_id");
        Client client = id == null ? null : clients.find(id);
        if (client == null) {
            throw new OAuthRefusal("invalid_request", "The program is not registered at this hub (client_id).");
        }
        return client;
    }

    private static String redirect(Client client, Map<String, String> form) throws OAuthRefusal {
        String redirect = form.get("redirect_uri");
        if (redirect == null && client.redirects().size() == 1) {
            return client.redirects().getFirst();
        }
        if (redirect == null || !client.mayRedirect(redirect)) {
            throw new OAuthRefusal(
                    "invalid_request",
                    "The program has not registered the address to which you would return (redirect_uri).");
        }
        return redirect;
    }

    private static void requireCode(Map<String, String> form) throws OAuthRefusal {
        if (!CODE.equals(form.get("response_type"))) {
            throw new OAuthRefusal("unsupported_response_type", "response_type (expected: code)");
        }
        if (!"S256".equals(form.get("code_challenge_method"))
                || !form.getOrDefault("code_challenge", "").matches(CHALLENGE)) {
            throw new OAuthRefusal("invalid_request", "code_challenge (expected: PKCE with the method S256)");
        }
        if (form.getOrDefault("state", "").length() > LONGEST_STATE) {
            throw new OAuthRefusal("invalid_request", "state: too long (expected: at most " + LONGEST_STATE + ")");
        }
    }

    private static Set<String> scopes(Map<String, String> form) throws OAuthRefusal {
        var scopes = new TreeSet<String>();
        for (String scope : form.getOrDefault("scope", "").strip().split(" +", -1)) {
            if (!scope.isEmpty()) {
                try {
                    scopes.add(Authentication.requireScope(scope));
                } catch (IllegalArgumentException bad) {
                    throw new OAuthRefusal("invalid_scope", "scope (expected: names without quotes and backslashes)");
                }
            }
        }
        return scopes;
    }

    /** The resource of a request: the hub, or an address below it. Source: RFC 8707, section 2. */
    static String resource(String hub, Map<String, String> form) throws OAuthRefusal {
        String resource = form.getOrDefault("resource", hub);
        String plain = resource.endsWith("/") ? resource.substring(0, resource.length() - 1) : resource;
        if (!plain.equals(hub) && !plain.startsWith(hub + "/") || plain.matches(".*([?#\\s]|/\\.\\.?(/|$)).*")) {
            throw new OAuthRefusal("invalid_target", "resource (expected: " + hub + ", or an address below)");
        }
        return plain;
    }

    private WireAnswer.Whole allowed(
            WireRequest request,
            Client client,
            String redirect,
            Set<String> scopes,
            String resource,
            Map<String, String> form)
            throws OAuthRefusal {
        var source = new Source(request.address(), null);
        Duration pause = guesses.pause(source);
        if (!pause.isZero()) {
            WireAnswer.Whole page =
                    page(client, redirect, scopes, form, 429, "Too many wrong keys. Try again in a minute.");
            var headers = new LinkedHashMap<>(page.headers());
            headers.put("Retry-After", Long.toString(pause.plusMillis(999).toSeconds()));
            return new WireAnswer.Whole(429, headers, page.body());
        }
        SignedIn user = users.apply(form.getOrDefault("key", ""));
        if (user == null) {
            guesses.wrong(source);
            return page(client, redirect, scopes, form, 403, "The key is not known, or no longer good.");
        }
        var granted = new TreeSet<>(user.principal().scopes());
        if (scopes.isEmpty()) {
            granted.removeAll(List.of(Principal.ADMIN, Principal.GROUP_ADMIN, Principal.METRICS));
        } else {
            granted.retainAll(scopes);
        }
        Runnable giveBack = limits.apply(user.principal());
        try {
            String code = signIns.begin(
                    new SignIns.User(user.principal().group(), user.principal().name(), user.key()),
                    client,
                    redirect,
                    form.getOrDefault("code_challenge", ""),
                    AgentScopes.kept(granted, user.principal().scopes()),
                    resource,
                    request.address());
            return back(redirect, form, Map.of(CODE, code));
        } finally {
            giveBack.run();
        }
    }

    private WireAnswer.Whole page(
            Client client, String redirect, Set<String> scopes, Map<String, String> form, int status, String problem) {
        var asked = new LinkedHashMap<String, String>();
        ASKED.forEach(name -> {
            String value = form.get(name);
            if (value != null) {
                asked.put(name, value);
            }
        });
        return ConsentPage.ask(hub.get(), client, redirect, scopes, asked, status, problem);
    }

    /** Sends the browser back to the client, with the issuer against a mix-up. Source: RFC 9207, section 2. */
    private WireAnswer.Whole back(String redirect, Map<String, String> form, Map<String, String> answer) {
        var members = new LinkedHashMap<>(answer);
        String state = form.get("state");
        if (state != null && state.length() <= LONGEST_STATE) {
            members.put("state", state);
        }
        members.put("iss", hub.get());
        var query = new StringBuilder(redirect);
        char separator = redirect.indexOf('?') < 0 ? '?' : '&';
        for (Map.Entry<String, String> member : members.entrySet()) {
            query.append(separator)
                    .append(member.getKey())
                    .append('=')
                    .append(URLEncoder.encode(member.getValue(), UTF_8));
            separator = '&';
        }
        var headers = new LinkedHashMap<String, String>();
        headers.put("Location", query.toString());
        headers.put("Cache-Control", "no-store");
        headers.put("Referrer-Policy", "no-referrer");
        return new WireAnswer.Whole(303, headers, new byte[0]);
    }
}
