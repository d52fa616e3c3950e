package dev.parley.trust.tokens;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.CachingJWKSetSource;
import com.nimbusds.jose.jwk.source.JWKSetBasedJWKSource;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetSource;
import com.nimbusds.jose.jwk.source.JWKSetSourceWrapper;
import com.nimbusds.jose.jwk.source.JWKSetUnavailableException;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.jwk.source.RateLimitedJWKSetSource;
import com.nimbusds.jose.jwk.source.URLBasedJWKSetSource;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jose.util.Resource;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedFetch;
import dev.parley.outbound.OAuthForm;
import dev.parley.outbound.TokenAnswer;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.LimitedClient;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URL;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The published metadata and keys of an issuer of tokens.
 *
 * <p>Any token can make the hub send a request. So only one request is sent at a time, and an issuer that did not answer is
 * not asked again for a while. Safe for any thread.
 *
 * <p>Source: OpenID Connect Discovery 1.0, section 4; RFC 9068, section 4; RFC 8725.
 */
public final class Issuer {
    private static final Duration SKEW = Duration.ofSeconds(60);
    private static final Duration LEFT_ALONE = Duration.ofSeconds(30);
    private static final Duration KEYS_GOOD_FOR = Duration.ofMinutes(1);
    private static final System.Logger LOG = System.getLogger("dev.parley.trust");
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** No group of callers has this name, so that none uses up these look-ups. */
    private static final String GROUP = "/issuers";

    private static final int MAX_BYTES = 256 * 1024;
    private static final Set<JWSAlgorithm> ALGORITHMS = Set.of(
            JWSAlgorithm.RS256,
            JWSAlgorithm.RS384,
            JWSAlgorithm.RS512,
            JWSAlgorithm.PS256,
            JWSAlgorithm.PS384,
            JWSAlgorithm.PS512,
            JWSAlgorithm.ES256,
            JWSAlgorithm.ES384,
            JWSAlgorithm.ES512);
    private static final Set<JOSEObjectType> TYPES =
            new HashSet<>(Arrays.asList(null, JOSEObjectType.JWT, new JOSEObjectType("at+jwt")));

    private final String url;
    private final Supplier<Set<String>> audiences;
    private final InstantSource clock;
    private final GuardedFetch documents;
    private final ForwardClock waits;
    private final ReentrantLock discovering = new ReentrantLock();
    private volatile @Nullable Discovered discovered;
    private volatile Instant leftAloneUntil = Instant.EPOCH;

    /**
     * Addresses at which users of the issuer sign in.
     *
     * @param authorization for the browser of the user
     * @param token for the code that the browser brings back
     */
    public record SignInAddresses(String authorization, String token) {}

    /** @param metadata of the issuer, by the names of the specification */
    private record Discovered(DefaultJWTProcessor<SecurityContext> processor, Map<String, Object> metadata) {}

    /**
     * @param documents metadata and keys, as {@link #documents} fetches them
     * @throws IllegalArgumentException if the URL is plain HTTP to another machine, which others could impersonate
     */
    public Issuer(String url, Supplier<Set<String>> audiences, InstantSource clock, GuardedFetch documents) {
        this.url = requireSafe(url);
        this.audiences = audiences;
        this.clock = clock;
        this.documents = documents;
        this.waits = new ForwardClock(clock);
    }

    /**
     * Fetches metadata and keys of issuers, by way of the proxies of the platform. Metadata may name hosts of issuers, public ones, and
     * those that are allowed.
     *
     * @param allowed hosts, as for webhooks
     */
    public static GuardedFetch documents(Collection<String> issuers, Collection<String> allowed) {
        ProxySelector proxies = ProxySelector.getDefault();
        var hosts = new HashSet<>(allowed);
        for (String issuer : issuers) {
            HttpUrl address = HttpUrl.of(requireSafe(issuer));
            hosts.add(address.origin().host()); // localhost for all addresses of this machine
            hosts.add(address.host().name());
            for (Proxy proxy : proxies == null ? List.<Proxy>of() : proxies.select(URI.create(issuer))) {
                if (proxy.address() instanceof InetSocketAddress place) {
                    hosts.add(place.getHostString());
                }
            }
        }
        return new GuardedFetch(AddressRule.allowing(hosts), PATIENCE, MAX_BYTES, true);
    }

    /** Over plain HTTP an attacker could replace the keys of an issuer. */
    private static String requireSafe(String issuer) {
        URI url = URI.create(issuer);
        boolean local = Set.of("localhost", "127.0.0.1", "[::1]").contains(String.valueOf(url.getHost()));
        if (url.getHost() == null || !("https".equals(url.getScheme()) || local && "http".equals(url.getScheme()))) {
            throw new IllegalArgumentException("issuer: " + issuer + " (expected: an https URL)");
        }
        return issuer;
    }

    /** Path of the metadata of an issuer. */
    public static String discovery(String issuer) {
        return issuer.replaceFirst("/$", "") + "/.well-known/openid-configuration";
    }

    /** Suffix of the names of its users: its host, with the port and the path if there are any. */
    public String name() {
        URI from = URI.create(url);
        return (from.getAuthority() + from.getPath()).replaceFirst("/$", "");
    }

    /**
     * Returns the contents of a token of this issuer.
     *
     * @throws BadJOSEException if it is not good; so do ParseException and JOSEException say
     * @throws A2AException UNAVAILABLE if the issuer cannot be asked
     */
    public JWTClaimsSet claims(String token) throws ParseException, BadJOSEException, JOSEException {
        try {
            return discovered().processor().process(token, null);
        } catch (JWKSetUnavailableException unreachable) {
            throw unreachable(unreachable);
        } catch (RateLimitReachedException askedTooOften) {
            requireReachable(); // else the keys are known, and this one is not among them
            throw askedTooOften;
        }
    }

    /**
     * Returns the addresses at which users sign in.
     *
     * @throws A2AException UNAVAILABLE if the issuer cannot be asked, or names none
     */
    public SignInAddresses signInAddresses() {
        Map<String, Object> metadata = discovered().metadata();
        try {
            return new SignInAddresses(
                    requireSafe(String.valueOf(metadata.get("authorization_endpoint"))),
                    requireSafe(String.valueOf(metadata.get("token_endpoint"))));
        } catch (IllegalArgumentException none) {
            throw A2AException.unavailable("The issuer " + url + " has no sign-in: " + none.getMessage(), LEFT_ALONE);
        }
    }

    /** Until when a token with these claims is good. */
    public static Instant end(JWTClaimsSet claims) {
        return claims.getExpirationTime().toInstant().plus(SKEW);
    }

    private Discovered discovered() {
        Discovered known = discovered;
        if (known != null) {
            return known;
        }
        requireReachable();
        try {
            if (!discovering.tryLock(2 * PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw unavailable(Duration.ofSeconds(1));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable(Duration.ofSeconds(1));
        }
        try {
            known = discovered;
            if (known == null) {
                requireReachable();
                known = discover();
                discovered = known;
            }
            return known;
        } catch (IOException | ParseException | IllegalArgumentException why) {
            throw unreachable(why);
        } finally {
            discovering.unlock();
        }
    }

    private Discovered discover() throws IOException, ParseException {
        URL discovery = URI.create(discovery(url)).toURL();
        Map<String, Object> found = JSONObjectUtils.parse(document(discovery).getContent());
        if (!url.equals(found.get("issuer"))) {
            throw new IOException(discovery + " names another issuer: " + found.get("issuer"));
        }
        URL keys =
                URI.create(requireSafe(String.valueOf(found.get("jwks_uri")))).toURL();
        var fetched = new RateLimitedJWKSetSource<SecurityContext>(
                new URLBasedJWKSetSource<>(keys, this::document), LEFT_ALONE.toMillis(), null);
        var kept = new CachingJWKSetSource<>(fetched, KEYS_GOOD_FOR.toMillis(), 2 * PATIENCE.toMillis(), null);
        var processor = new DefaultJWTProcessor<SecurityContext>();
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(TYPES));
        processor.setJWSKeySelector(
                new JWSVerificationKeySelector<>(ALGORITHMS, new JWKSetBasedJWKSource<>(new Timed(kept))));
        processor.setJWTClaimsSetVerifier(new Claims(audiences.get()));
        return new Discovered(processor, found);
    }

    private Resource document(URL place) throws IOException {
        try {
            var answer = documents.get(GROUP, place.toString(), Map.of("Accept", "application/json"));
            if (answer.status() / 100 != 2) {
                throw new IOException(place + ": status " + answer.status() + " (expected: 200)");
            }
            return new Resource(new String(answer.body(), UTF_8), answer.mediaType());
        } catch (A2AException noUrl) {
            throw new IOException(noUrl);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
    }

    /** Sends a form to the token endpoint. */
    TokenAnswer token(URI endpoint, OAuthForm form) throws IOException, InterruptedException {
        return form.send(documents.client(GROUP), LimitedClient.ONCE, endpoint, PATIENCE);
    }

    /** Returns what to tell of a failure, which is logged unless another one just was. */
    private A2AException unreachable(Exception why) {
        Instant now = waits.instant();
        if (!now.isBefore(leftAloneUntil)) {
            LOG.log(System.Logger.Level.WARNING, "the keys of the issuer " + url + " cannot be read", why);
        }
        leftAloneUntil = now.plus(LEFT_ALONE);
        return unavailable(LEFT_ALONE);
    }

    private void requireReachable() {
        Duration left = Duration.between(waits.instant(), leftAloneUntil);
        if (left.isPositive()) {
            throw unavailable(left);
        }
    }

    private static A2AException unavailable(Duration wait) {
        return A2AException.unavailable("The keys of the issuer of the token cannot be read", wait);
    }

    /** Keys that are as old as the clock of the hub says, not that of the system. */
    private final class Timed extends JWKSetSourceWrapper<SecurityContext> {
        Timed(JWKSetSource<SecurityContext> source) {
            super(source);
        }

        @Override
        public JWKSet getJWKSet(JWKSetCacheRefreshEvaluator refresh, long systemTime, SecurityContext context)
                throws KeySourceException {
            return getSource().getJWKSet(refresh, waits.millis(), context);
        }
    }

    private final class Claims extends DefaultJWTClaimsVerifier<SecurityContext> {
        private final Set<String> accepted;

        Claims(Set<String> audiences) {
            super(audiences, new JWTClaimsSet.Builder().issuer(url).build(), Set.of("sub", "exp"), Set.of());
            this.accepted = audiences;
            setMaxClockSkew((int) SKEW.toSeconds());
        }

        /** A token for a resource of this server, such as {@code HUB/mcp} or an agent, is one for the server. Source: RFC 8707, section 2. */
        @Override
        public void verify(JWTClaimsSet claims, @Nullable SecurityContext context) throws BadJWTException {
            List<String> servers = claims.getAudience().stream()
                    .map(audience -> accepted.stream()
                            .filter(server -> audience.startsWith(server + "/"))
                            .findFirst()
                            .orElse(audience))
                    .toList();
            super.verify(new JWTClaimsSet.Builder(claims).audience(servers).build(), context);
        }

        @Override
        protected Date currentTime() {
            return Date.from(clock.instant());
        }
    }
}
