package dev.parley.client.wire;

import dev.parley.client.keys.OAuthClient;
import dev.parley.client.oauth.TokenEndpointRule;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.dialect.Json;
import dev.parley.outbound.OAuthForm;
import dev.parley.outbound.TokenAnswer;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.RetryAfter;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Gets tokens for OAuth clients by the client credentials grant or a token exchange, and keeps each until shortly before it expires.
 * However many threads want the same one, it is asked for once. Safe for any thread.
 *
 * <p>Source: RFC 6749, section 4.4; RFC 8693, section 2.1. The client's secret goes into the form, as AgentVault 0.2 does it.
 */
public final class TokenCache {
    /**
     * Key of a cached token.
     *
     * @param audience that the token has to be for; null for none
     * @param subject token of the principal on whose behalf the client calls; null for a token of the client itself
     */
    public record Wanted(
            String tokenUrl,
            OAuthClient client,
            List<String> scopes,
            @Nullable String audience,
            @Nullable String subject) {
        Wanted(String tokenUrl, OAuthClient client, List<String> scopes) {
            this(tokenUrl, client, scopes, null, null);
        }

        @Override
        public String toString() {
            return "Wanted[" + tokenUrl + ", " + client + ", " + scopes + ", " + audience + "]";
        }
    }

    /** Sends a form, as {@link HttpWire#post} does. */
    interface Post {
        TokenAnswer post(HttpUrl url, OAuthForm form, Duration left) throws AttemptFailure, InterruptedException;
    }

    /** @param until when it is no longer used; null for one that has no end */
    private record Token(String text, @Nullable Instant until) {
        boolean isGood(Instant now) {
            return until == null || now.isBefore(until);
        }
    }

    /** The place of one token; the lock is held by the thread that asks for it. */
    private static final class Entry {
        final ReentrantLock asking = new ReentrantLock();
        volatile @Nullable Token token;
    }

    /** A token that expires on its way is of no use. */
    private static final Duration MARGIN = Duration.ofSeconds(60);

    /** Tokens that are kept; when there are so many, all are requested anew. */
    public static final int MAX_TOKENS = 256;

    private static final String BEARER = "Bearer ";
    private static final Set<Integer> NOT_ACCEPTED = Set.of(400, 401, 403);

    private final Post server;
    private final InstantSource clock;
    private final int most;
    private final Map<Wanted, Entry> entries = new ConcurrentHashMap<>();

    TokenCache(Post server, InstantSource clock, int most) {
        this.server = server;
        this.clock = clock;
        this.most = most;
    }

    /** A cache with the connections of {@code wire}, which may send forms to the token endpoints. */
    public static TokenCache of(HttpWire wire, int most) {
        return new TokenCache(wire::post, InstantSource.system(), most);
    }

    /**
     * Returns a token that is good for a minute at least, or for once if it is shorter-lived.
     *
     * @throws AttemptFailure if the server gives none now, but may at another attempt
     * @throws ClientException if it gives none
     */
    public String get(Wanted wanted, Duration left) throws AttemptFailure, InterruptedException {
        if (entries.size() >= most && !entries.containsKey(wanted)) {
            Instant now = clock.instant();
            entries.values().removeIf(one -> one.token != null && !one.token.isGood(now));
            if (entries.size() >= most) {
                entries.clear(); // a card may require other scopes each time that it is read
            }
        }
        Entry entry = entries.computeIfAbsent(wanted, name -> new Entry());
        Token known = entry.token;
        if (known != null && known.isGood(clock.instant())) {
            return known.text();
        }
        long end = System.nanoTime() + left.toNanos();
        if (!entry.asking.tryLock(left.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new ClientException(Problem.TIMED_OUT, "no token in time from " + wanted.tokenUrl());
        }
        try {
            Token other = entry.token;
            if (other != null && other.isGood(clock.instant())) {
                return other.text();
            }
            Token fresh = ask(wanted, Duration.ofNanos(end - System.nanoTime()));
            entry.token = fresh;
            return fresh.text();
        } finally {
            entry.asking.unlock();
        }
    }

    /** Returns the number of tokens that are kept or being requested. */
    int size() {
        return entries.size();
    }

    /**
     * Forgets the tokens of a request; newer ones in their place stay, so that requests that are refused together ask for one.
     *
     * @param headers values of its headers
     */
    public void forget(Collection<String> headers) {
        entries.values().removeIf(entry -> {
            Token known = entry.token;
            return known != null && headers.contains(BEARER + known.text());
        });
    }

    private Token ask(Wanted wanted, Duration left) throws AttemptFailure, InterruptedException {
        HttpUrl url = TokenEndpointRule.url("tokenUrl", wanted.tokenUrl());
        TokenAnswer answer;
        try {
            answer = server.post(url, form(wanted), left);
        } catch (AttemptFailure trouble) {
            // The agent itself has not been asked yet, so whatever the operation is, all of it may be tried again.
            throw new AttemptFailure(AttemptFailure.Kind.NOT_NOW, trouble.retryAfter(), trouble.verdict());
        }
        int status = answer.status();
        if (NOT_ACCEPTED.contains(status)) {
            if (wanted.subject() != null && status == 400) {
                throw TokenEndpointRule.noToken(url, "the token of the caller is not exchanged");
            }
            throw new ClientException(
                    Problem.AUTHENTICATION_FAILED,
                    url.origin() + " does not accept the OAuth client "
                            + wanted.client().id() + " (status " + status + ")");
        }
        if (status == 429 || status >= 500) {
            throw new AttemptFailure(
                    AttemptFailure.Kind.NOT_NOW,
                    RetryAfter.parse(
                            answer.headers().firstValue("Retry-After").orElse(null),
                            clock.instant(),
                            TokenAnswer.LONGEST),
                    TokenEndpointRule.noToken(url, "status " + status));
        }
        if (status < 200 || status >= 300) {
            throw TokenEndpointRule.noToken(url, "status " + status);
        }
        return token(url, answer, wanted);
    }

    private static OAuthForm form(Wanted wanted) {
        var form = new OAuthForm();
        return (wanted.subject() == null ? form.credentialsGrant() : form.exchangeGrant(wanted.subject()))
                .client(wanted.client().id(), wanted.client().secret())
                .scopes(wanted.scopes())
                .put("audience", wanted.audience());
    }

    private Token token(HttpUrl url, TokenAnswer answer, Wanted wanted) {
        String text = TokenEndpointRule.bearer(url, answer);
        if (text == null) {
            throw TokenEndpointRule.noToken(url, "no access_token");
        }
        if (!isFor(wanted.audience(), text)) {
            throw TokenEndpointRule.noToken(url, "another audience than " + wanted.audience());
        }
        Duration life = answer.life();
        if (life == null) {
            return new Token(
                    text, wanted.subject() == null ? null : clock.instant().plus(MARGIN));
        }
        return new Token(text, clock.instant().plus(life).minus(MARGIN));
    }

    /** False for a JWT that names other audiences. Its signature is not verified: it came from its issuer, over TLS. */
    private static boolean isFor(@Nullable String audience, String token) {
        List<String> parts = List.of(token.split("\\.", -1));
        if (audience == null || parts.size() != 3) {
            return true;
        }
        try {
            Map<?, ?> claims = Json.read(Base64.getUrlDecoder().decode(parts.get(1)), Map.class);
            Object named = claims.get("aud");
            return named == null || audience.equals(named) || named instanceof List<?> list && list.contains(audience);
        } catch (A2AException | IllegalArgumentException noJwt) {
            return true; // an opaque token with dots
        }
    }
}
