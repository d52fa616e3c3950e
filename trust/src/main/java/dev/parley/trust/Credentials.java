package dev.parley.trust;

import static java.util.Objects.requireNonNull;

import com.nimbusds.jwt.JWTParser;
import dev.parley.dialect.spi.ContainerCaller;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.Excerpt;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.AuthorizationEndpoint.SignedIn;
import dev.parley.trust.ForeignTokens.Foreign;
import dev.parley.trust.tokens.AccessTokens.Grant;
import dev.parley.trust.tokens.Proofs;
import dev.parley.trust.tokens.SecretAttempts;
import dev.parley.trust.tokens.SecretAttempts.Source;
import dev.parley.trust.tokens.Sessions.BrowserSession;
import dev.parley.trust.tokens.Sessions.Credential;
import dev.parley.trust.tokens.Sessions.Kind;
import java.security.cert.X509Certificate;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Credentials of requests: identifies the caller by them, and refuses those that are missing, wrong, or without the scopes that are
 * required. Safe for any thread.
 *
 * @param guesses counts wrong credentials
 */
record Credentials(
        Accounts accounts,
        Grants grants,
        ForeignTokens foreignTokens,
        Proofs proofs,
        RequiredCredentials required,
        SecretAttempts guesses,
        Denials denials) {
    /** Refusal of a call without credentials. */
    static final String REQUIRED = "Authentication required";

    private static final System.Logger LOG = System.getLogger("dev.parley.trust");
    private static final String BEARER = "Bearer ";
    private static final String DPOP = "DPoP ";
    private static final String BASIC = "Basic ";

    private record Token(String scheme, String text) {}

    /** Returns the caller; null if it is anonymous and may be. */
    @Nullable
    Principal caller(Authentication wanted, RequestHead arrival) {
        Principal caller = identified(wanted, arrival);
        requireWelcome(caller, wanted, arrival);
        return caller;
    }

    /** Authenticates as {@link #caller} does, and records refusals, with the principal's name if known. */
    @Nullable
    Principal recorded(String target, String operation, Authentication wanted, RequestHead arrival) {
        Principal caller = null;
        try {
            caller = identified(wanted, arrival);
            requireWelcome(caller, wanted, arrival);
            return caller;
        } catch (A2AException refusal) {
            denials.note(context(caller, arrival), target, operation, "", String.valueOf(refusal.getMessage()));
            throw refusal;
        }
    }

    static CallContext context(@Nullable Principal caller, RequestHead arrival) {
        return caller == null
                ? CallContext.anonymous().withGrants(Set.of(), arrival.address())
                : caller.context(arrival.address());
    }

    /** Identifies the caller of a credential in a message, as {@code Trust} describes. */
    Optional<CallContext> identify(String credential) {
        String text = credential.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? credential.substring(BEARER.length()).strip()
                : credential;
        Principal caller = accounts.byApiKey(text);
        if (caller == null) {
            caller = accounts.byToken(text);
        }
        if (caller == null) {
            Grant grant = grants.tokens().read(text);
            Foreign foreign = grant == null ? foreignTokens.read(text) : null;
            caller = grant != null && grant.boundTo() == null
                    ? grants.holder(grant)
                    : foreign != null && foreign.boundTo() == null && foreign.mayComeWith(null)
                            ? foreign.principal()
                            : null;
        }
        return caller == null || !accounts.isWelcome(caller.group(), caller.name())
                ? Optional.empty()
                : Optional.of(caller.context(""));
    }

    /** The context with the token of the caller if a trusted issuer has given it: agents elsewhere may get another one for it. */
    CallContext withToken(CallContext context, Authentication wanted, RequestHead arrival) {
        if (required.issuers().isEmpty()) {
            return context;
        }
        Token token = wanted.takes(Scheme.API_KEY) && apiKey(arrival) != null ? null : token(wanted, arrival);
        return token != null && token.scheme().equals(BEARER) && foreignTokens.known(token.text()) != null
                ? context.withToken(token.text())
                : context;
    }

    /** Whether the caller and its key are still enabled. A token that expires meanwhile changes nothing. */
    boolean areStillGood(Principal caller, Authentication wanted, RequestHead arrival) {
        if (!accounts.isWelcome(caller.group(), caller.name())) {
            return false;
        }
        BrowserSession session = SessionCredentials.of(arrival);
        if (session != null && session.credential().kind() == Kind.KEY_ID) {
            return accounts.byKeyId(session.credential().text()) != null;
        }
        String key = wanted.takes(Scheme.API_KEY) ? apiKey(arrival) : null;
        if (key == null && isOfContainer(wanted, arrival)) {
            return true;
        }
        Token token = key == null ? token(wanted, arrival) : null;
        if (token != null && token.scheme().equals(BASIC)) {
            return accounts.byPassword(token.text()) != null;
        }
        String secret = key == null && token != null ? token.text() : key;
        return secret == null || !secret.startsWith(Directory.KEY_PREFIX) || accounts.byApiKey(secret) != null;
    }

    /** Whether a request has a certificate, a token, a password or a key. */
    boolean areIn(RequestHead arrival) {
        return arrival.caller() != null
                || arrival.certificate() != null
                || arrival.header("Authorization") != null
                || apiKey(arrival) != null;
    }

    /** Returns the user of an API key; null if it is not known, or no longer good. */
    @Nullable
    SignedIn signedIn(String key) {
        Principal user = accounts.byApiKey(key);
        return user == null || !accounts.isWelcome(user.group(), user.name())
                ? null
                : new SignedIn(user, keyId(new Credential(Kind.KEY, key)));
    }

    /** Id of an API key of the directory, as a key or a token; empty for other credentials. It was found to be good. */
    String keyId(Credential credential) {
        String text = credential.text();
        Callers callers = accounts.callers();
        Directory directory = accounts.directory();
        boolean isConfigured =
                (credential.kind() == Kind.TOKEN ? callers.byToken(text) : callers.byApiKey(text)) != null;
        return isConfigured || directory == null ? "" : directory.idOf(text);
    }

    /** Expiry of a credential; null for never. */
    @Nullable
    Instant expiry(Credential credential) {
        Directory directory = accounts.directory();
        if (directory != null && credential.text().startsWith(Directory.KEY_PREFIX)) {
            return directory.expiry(credential.text());
        }
        try {
            Date end = JWTParser.parse(credential.text()).getJWTClaimsSet().getExpirationTime();
            return end == null ? null : end.toInstant();
        } catch (ParseException noJwt) {
            return null;
        }
    }

    private @Nullable Principal identified(Authentication wanted, RequestHead arrival) {
        BrowserSession session = SessionCredentials.of(arrival);
        Principal certified = certified(wanted, arrival);
        if (session != null && certified != null) {
            return certified; // a credential of the request itself
        }
        if (session != null && session.credential().kind() == Kind.KEY_ID) {
            return byKeyId(session.credential().text(), wanted, arrival);
        }
        String key = wanted.takes(Scheme.API_KEY) ? apiKey(arrival) : null;
        if (key == null && isOfContainer(wanted, arrival)) {
            return contained(wanted, arrival);
        }
        Token token = token(wanted, arrival);
        if (key == null && token == null && certified == null) {
            if (wanted.isOpen()) {
                return null;
            }
            if (session != null) {
                throw wrong(wanted, arrival);
            }
            throw required.refusal(A2AError.UNAUTHENTICATED, REQUIRED, wanted, "");
        }
        Principal caller =
                key != null ? accounts.byApiKey(key) : token != null ? byToken(wanted, token, arrival) : certified;
        if (caller == null) {
            throw wrong(wanted, arrival);
        }
        return caller;
    }

    /** The API key of a request: in the header that cards name, or in the usual one, which AgentVault's clients know only. */
    private @Nullable String apiKey(RequestHead arrival) {
        String key = arrival.header(required.keyHeader());
        return key == null ? arrival.header(Authentication.KEY_HEADER) : key;
    }

    private static @Nullable Token token(Authentication wanted, RequestHead arrival) {
        String header = arrival.header("Authorization");
        if (header != null && (wanted.takesTokens() || wanted.takes(Scheme.BASIC))) {
            for (String scheme : List.of(BEARER, DPOP, BASIC)) {
                if (header.regionMatches(true, 0, scheme, 0, scheme.length())) {
                    return new Token(scheme, header.substring(scheme.length()).strip());
                }
            }
        }
        return null;
    }

    /**
     * Whether the caller is the one that the container has authenticated: its credential, such as a token, is not one of the hub. A browser
     * adds cookies and passwords to requests of foreign pages as well, and answers challenges such as Negotiate by itself, so that callers
     * of such pages need a token.
     */
    private boolean isOfContainer(Authentication wanted, RequestHead arrival) {
        if (arrival.caller() == null || !wanted.takes(Scheme.CONTAINER) || SessionCredentials.of(arrival) != null) {
            return false;
        }
        String header = arrival.header("Authorization");
        String site = arrival.header("Sec-Fetch-Site");
        return arrival.method().equals("GET")
                || arrival.method().equals("HEAD")
                || header != null && isToken(header)
                || site == null && arrival.header("Origin") == null
                || "none".equals(site)
                || SessionCredentials.isOwn(arrival, required.hub().get());
    }

    private static boolean isToken(String header) {
        return header.regionMatches(true, 0, BEARER, 0, BEARER.length())
                || header.regionMatches(true, 0, DPOP, 0, DPOP.length());
    }

    private Principal contained(Authentication wanted, RequestHead arrival) {
        ContainerCaller caller = requireNonNull(arrival.caller());
        try {
            return new Principal(
                    caller.group() == null ? Principal.DEFAULT_GROUP : Principal.requireGroup(caller.group()),
                    foreignTokens.requireOther(Principal.requireName(caller.name())),
                    caller.scopes());
        } catch (IllegalArgumentException unusable) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "a caller of the container is refused: {0}",
                    Excerpt.line(String.valueOf(unusable.getMessage())));
            throw required.refusal(
                    A2AError.UNAUTHENTICATED, "The name or group of the caller cannot be used", wanted, "");
        }
    }

    private @Nullable Principal certified(Authentication wanted, RequestHead arrival) {
        X509Certificate certificate = arrival.certificate();
        return certificate == null || !wanted.takes(Scheme.MUTUAL_TLS)
                ? null
                : accounts.callers().byCertificate(certificate);
    }

    /** The owner of the key of a session. Keys of the directory are good as API keys and as bearer tokens. */
    private @Nullable Principal byKeyId(String id, Authentication wanted, RequestHead arrival) {
        boolean isTaken = wanted.takes(Scheme.API_KEY) || wanted.takes(Scheme.BEARER);
        Principal owner = isTaken ? accounts.byKeyId(id) : null;
        if (owner == null && (isTaken || !wanted.isOpen())) {
            throw wrong(wanted, arrival);
        }
        return owner;
    }

    /** Returns the caller with these credentials; null if there is none. API keys may come as bearer tokens too. */
    private @Nullable Principal byToken(Authentication wanted, Token token, RequestHead arrival) {
        if (token.scheme().equals(BASIC)) {
            return wanted.takes(Scheme.BASIC) ? accounts.byPassword(token.text()) : null;
        }
        if (wanted.takes(Scheme.BEARER) && token.scheme().equals(BEARER)) {
            Principal fixed = accounts.byToken(token.text());
            if (fixed != null) {
                return fixed;
            }
        }
        boolean foreign = wanted.takes(Scheme.BEARER) || wanted.takes(Scheme.OPEN_ID);
        Foreign read = foreign ? foreignTokens.known(token.text()) : null;
        boolean ours = read == null && (wanted.takes(Scheme.BEARER) || wanted.takes(Scheme.OAUTH2));
        Grant grant = ours ? grants.tokens().read(token.text()) : null;
        if (grant != null && !grants.isFor(grant, arrival)) {
            return null;
        }
        if (grant != null) {
            requireProof(wanted, token, grant.boundTo(), arrival);
            return grants.holder(grant);
        }
        if (read == null && foreign) {
            read = foreignTokens.read(token.text());
        }
        if (read == null) {
            return null;
        }
        requireProof(wanted, token, read.boundTo(), arrival);
        return read.mayComeWith(arrival.certificate()) ? read.principal() : null;
    }

    /** A token that is bound to a key is valid only with a proof by that key; a proof requires a bound token. */
    private void requireProof(Authentication wanted, Token token, @Nullable String boundTo, RequestHead arrival) {
        if (boundTo == null && token.scheme().equals(BEARER)) {
            return;
        }
        if (boundTo == null
                || !token.scheme().equals(DPOP)
                || !proofs.isHeld(arrival, required.hub().get() + arrival.path(), token.text(), boundTo)) {
            throw A2AException.refused(
                    A2AError.UNAUTHENTICATED,
                    "The token is bound to a key, of which there is no proof that fits",
                    "DPoP error=\"invalid_dpop_proof\", algs=\"" + String.join(" ", Proofs.ALGORITHMS) + "\", "
                            + required.challenge(wanted, ""));
        }
    }

    private void requireWelcome(@Nullable Principal caller, Authentication wanted, RequestHead arrival) {
        if (caller == null) {
            return;
        }
        if (!accounts.isWelcome(caller.group(), caller.name())) {
            throw wrong(wanted, arrival);
        }
        if (!caller.scopes().containsAll(wanted.scopes())) {
            var needed = new TreeSet<>(wanted.scopes());
            needed.addAll(caller.scopes()); // clients request those of the challenge, and no others
            throw required.refusal(
                    A2AError.PERMISSION_DENIED,
                    "Not all of these scopes were granted: " + String.join(" ", wanted.scopes()),
                    wanted,
                    ", error=\"insufficient_scope\", scope=\"" + String.join(" ", needed) + '"');
        }
    }

    /** Rate-limits wrong credentials by address. Right ones are admitted all the same: several callers may share the address. */
    private A2AException wrong(Authentication wanted, RequestHead arrival) {
        if (SessionCredentials.of(arrival) != null) { // it began with a right one
            String message = "The credential of the session is not good here, or no longer";
            return required.refusal(A2AError.UNAUTHENTICATED, message, wanted, "");
        }
        boolean key = wanted.takes(Scheme.API_KEY) && apiKey(arrival) != null;
        var source = new Source(arrival.address(), null);
        Duration pause = guesses.pause(source);
        if (!pause.isZero()) {
            return A2AException.of(A2AError.RATE_LIMITED, "Too many wrong credentials")
                    .retryingAfter(pause);
        }
        guesses.wrong(source);
        return required.refusal(
                A2AError.UNAUTHENTICATED,
                key ? "The API key is not known" : "The token is not known, or no longer good",
                wanted,
                ", error=\"invalid_token\"");
    }
}
