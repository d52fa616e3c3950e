package dev.parley.trust;

import dev.parley.dialect.Json;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Trust.HubState;
import dev.parley.trust.tokens.OpenIdSignIn;
import dev.parley.trust.tokens.Sessions;
import dev.parley.trust.tokens.Sessions.BrowserSession;
import dev.parley.trust.tokens.Sessions.Credential;
import dev.parley.trust.tokens.Sessions.Kind;
import dev.parley.trust.tokens.Sessions.NewSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges a credential for a session of a browser, shows the session, and ends it. The proof of a session has two halves: the page cannot
 * read the cookie, so a script in the page cannot take it elsewhere, and other ports of the host, to which browsers send the cookie, cannot
 * read the {@linkplain SessionCredentials#PROOF header} that the page sends. Safe for any thread.
 */
final class SessionEndpoint {
    private static final String KEY = "key";
    private static final String TOKEN = "token";
    private static final String OPEN_ID = "openid";
    private static final String CODE = "code";
    private static final String VERIFIER = "verifier";
    private static final int LONGEST = 16 * 1024;

    private final Authentication wanted;
    private final boolean isOpen;
    private final Credentials credentials;
    private final @Nullable SessionCredentials sessions;
    private final @Nullable OpenIdSignIn openId;
    private final Function<Principal, Runnable> limits;
    private final Supplier<String> hub;
    private volatile Supplier<HubState> state = () -> new HubState(false, Map.of());

    /**
     * @param wanted authentication of callers at addresses of no agent
     * @param isOpen whether callers need no credentials
     * @param sessions null in a hub without users
     * @param openId null if users do not sign in by OpenID Connect
     * @param limits takes a sign-in from the limits of its user, and returns what gives it back
     */
    SessionEndpoint(
            Authentication wanted,
            boolean isOpen,
            Credentials credentials,
            @Nullable SessionCredentials sessions,
            @Nullable OpenIdSignIn openId,
            Function<Principal, Runnable> limits,
            Supplier<String> hub) {
        this.wanted = wanted;
        this.isOpen = isOpen;
        this.credentials = credentials;
        this.sessions = sessions;
        this.openId = openId;
        this.limits = limits;
        this.hub = hub;
    }

    void show(Supplier<HubState> now) {
        state = now;
    }

    WireAnswer answer(WireRequest request) {
        if (request.path().equals("/" + OPEN_ID)
                && openId != null
                && request.method().equals("GET")) {
            var headers = Map.of("Content-Type", "application/json", "Cache-Control", "no-store");
            return new WireAnswer.Whole(200, headers, Json.write(openId.request()));
        }
        if (!request.path().isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        return switch (request.method()) {
            case "GET" -> shown(request.arrival());
            case "POST" -> begun(request);
            case "DELETE" -> ended(request.arrival());
            default -> throw A2AException.notAllowed(request.method(), "GET, HEAD, POST, DELETE");
        };
    }

    private WireAnswer shown(RequestHead arrival) {
        RequestHead resolved = sessions == null ? arrival : sessions.resolved(arrival);
        BrowserSession session = SessionCredentials.of(resolved);
        boolean isOfProgram = session == null && sessions != null && sessions.hasCredential(arrival);
        Principal caller = caller(resolved, isOfProgram);
        var shown = new LinkedHashMap<String, Object>();
        shown.put("signedIn", caller != null);
        shown.put("needsSignIn", !isOpen);
        if (caller != null) {
            shown.put("name", caller.name());
            shown.put("group", caller.group());
            shown.put("scopes", List.copyOf(new TreeSet<>(caller.scopes())));
            if (session != null) {
                shown.put("expires", session.expires().toString());
            }
        }
        shown.put("methods", methods());
        var about = new LinkedHashMap<String, Object>();
        about.put("name", "Parley");
        if (caller != null || isOpen) {
            about.put("version", version());
            HubState now = state.get();
            if (now.isDrained()) {
                about.put("drained", true);
            }
            boolean isOperator = caller == null || caller.scopes().contains(Principal.ADMIN);
            List<String> problems = now.problems().entrySet().stream()
                    .map(problem -> isOperator ? problem.getKey() + ": " + problem.getValue() : problem.getKey())
                    .sorted()
                    .toList();
            if (!problems.isEmpty()) {
                about.put("problems", problems);
            }
        }
        about.put("url", hub.get());
        shown.put("hub", about);
        var headers = new LinkedHashMap<String, String>();
        headers.put("Content-Type", "application/json");
        headers.put("Cache-Control", "no-store");
        if (caller == null && session != null) {
            headers.put("Set-Cookie", cookie(arrival, "", Duration.ZERO));
        }
        return new WireAnswer.Whole(200, headers, Json.write(shown));
    }

    /**
     * The caller of a request; null without a credential that is good.
     *
     * @param isRecorded whether a refusal leaves a row in the audit
     */
    private @Nullable Principal caller(RequestHead resolved, boolean isRecorded) {
        try {
            return isRecorded
                    ? credentials.recorded("hub", "session", wanted, resolved)
                    : credentials.caller(wanted, resolved);
        } catch (A2AException refused) {
            if (refused.error() == A2AError.UNAVAILABLE || refused.error() == A2AError.RATE_LIMITED) {
                throw refused;
            }
            return null;
        }
    }

    private WireAnswer begun(WireRequest request) {
        RequestHead arrival = request.arrival();
        if (sessions == null || methods().isEmpty()) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION,
                    "This hub has no sign-in (expected: API keys or bearer tokens in --auth or --agent-auth)");
        }
        requireOwn(sessions, arrival);
        if (sessions.hasCredential(arrival)) {
            throw A2AException.invalidParams(
                    "headers",
                    "a credential, which would count instead of the session (expected: none, also of a proxy on the way)");
        }
        Map<?, ?> members = JsonText.request(request.body(), Codecs.STRUCT);
        String method = method(members);
        if (!methods().contains(method)) {
            throw A2AException.invalidParams(
                    method, "not accepted by this hub (expected: " + String.join(" or ", methods()) + ")");
        }
        Credential credential = openId != null && method.equals(OPEN_ID)
                ? new Credential(
                        Kind.TOKEN, openId.token(text(members, CODE), text(members, VERIFIER), arrival.address()))
                : new Credential(method.equals(KEY) ? Kind.KEY : Kind.TOKEN, text(members, method));
        Principal user = credentials.recorded("hub", "session", wanted, sessions.with(arrival, credential));
        if (user == null) {
            throw A2AException.of(A2AError.UNAUTHENTICATED);
        }
        Runnable giveBack = limits.apply(user);
        try {
            return begun(user, method, credential, sessions.sessions(), arrival);
        } finally {
            giveBack.run();
        }
    }

    private WireAnswer begun(
            Principal user, String method, Credential credential, Sessions sessions, RequestHead arrival) {
        var detail = new LinkedHashMap<String, Object>();
        detail.put("method", method);
        String key = credentials.keyId(credential);
        Credential kept = key.isEmpty() ? credential : new Credential(Kind.KEY_ID, key);
        if (!key.isEmpty()) {
            detail.put(KEY, key);
        }
        Set<String> before = SessionCredentials.ids(arrival, hub.get());
        NewSession begun =
                before.size() == 1 ? sessions.again(before.iterator().next(), user.group(), user.name(), kept) : null;
        if (begun == null) {
            begun = sessions.begin(
                    user.group(), user.name(), kept, credentials.expiry(credential), detail, arrival.address());
            end(arrival); // the session before, of the same browser
        }
        var headers = new LinkedHashMap<String, String>();
        headers.put("Content-Type", "application/json");
        headers.put("Cache-Control", "no-store");
        headers.put("Set-Cookie", cookie(arrival, begun.session().id(), Sessions.LIFE));
        return new WireAnswer.Whole(200, headers, Json.write(Map.of("proof", begun.proof())));
    }

    private static String method(Map<?, ?> members) {
        List<String> given =
                Stream.of(KEY, TOKEN, CODE).filter(members::containsKey).toList();
        if (given.size() != 1) {
            throw A2AException.invalidParams("body", "expected: one of key, token, and code with verifier");
        }
        return given.getFirst().equals(CODE) ? OPEN_ID : given.getFirst();
    }

    private static String text(Map<?, ?> members, String name) {
        if (!(members.get(name) instanceof String text)
                || text.length() > LONGEST
                || !text.strip().matches("[\\x21-\\x7e]+")) {
            throw A2AException.invalidParams(name, "expected: a text of visible characters");
        }
        return text.strip();
    }

    private WireAnswer ended(RequestHead arrival) {
        if (sessions != null) {
            requireOwn(sessions, arrival);
            end(arrival);
        }
        // The next user of the browser must not find answers for this one.
        return new WireAnswer.Whole(
                204,
                Map.of("Set-Cookie", cookie(arrival, "", Duration.ZERO), "Clear-Site-Data", "\"cache\""),
                new byte[0]);
    }

    /** Ends the sessions of the browser. The cookie is enough: it ends no other session, and pages may have lost their half. */
    private void end(RequestHead arrival) {
        if (sessions != null) {
            for (String id : SessionCredentials.ids(arrival, hub.get())) {
                sessions.sessions().end(id, arrival.address());
            }
        }
    }

    /** A foreign page must neither sign its visitor in as another user, nor sign it out. */
    private static void requireOwn(SessionCredentials sessions, RequestHead arrival) {
        if (!sessions.isOwn(arrival)) {
            throw A2AException.of(
                    A2AError.PERMISSION_DENIED,
                    "Only pages of this hub sign in and out (expected: Sec-Fetch-Site: same-origin, or Origin of the hub)");
        }
    }

    /** Credentials that begin a session. */
    private List<String> methods() {
        var methods = new ArrayList<String>();
        if (sessions != null && wanted.takes(Scheme.API_KEY)) {
            methods.add(KEY);
        }
        if (sessions != null && wanted.takesTokens()) {
            methods.add(TOKEN);
        }
        if (sessions != null && openId != null) {
            methods.add(OPEN_ID);
        }
        return methods;
    }

    private String cookie(RequestHead arrival, String id, Duration life) {
        String url = hub.get();
        return SessionCredentials.cookieName(arrival, url) + "=" + id + "; Max-Age=" + life.toSeconds()
                + "; Path=/; HttpOnly; SameSite=Strict" + (SessionCredentials.isSecure(arrival, url) ? "; Secure" : "");
    }

    private static String version() {
        String version = SessionEndpoint.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
