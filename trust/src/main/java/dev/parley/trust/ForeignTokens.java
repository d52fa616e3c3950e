package dev.parley.trust;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import dev.parley.trust.GoodTokens.Good;
import java.io.IOException;
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
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tokens that somebody else makes whom this hub trusts: an OpenID provider, or another OAuth 2 server that publishes its keys.
 *
 * <p>Which issuer, keys and algorithms count is settled here; what the header of a token says of keys is not looked at, but
 * for the id of one. Keys are fetched when the first token comes, and again when one has a key that is not known, not more
 * often than every 30 s. A token that was found good is looked at again after a minute. Safe for any thread.
 *
 * <p>Source: OpenID Connect Discovery 1.0, section 4; RFC 9068, section 4; RFC 8725.
 */
final class ForeignTokens {
    static final Duration SKEW = Duration.ofSeconds(60);

    private static final Duration GOOD_FOR = Duration.ofMinutes(1);
    private static final System.Logger LOG = System.getLogger("dev.parley.trust");
    private static final int PATIENCE_MS = 5_000;
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

    /** Whose token it is, and to which key it is bound, as its JWK thumbprint; null for none. */
    record Foreign(Principal principal, @Nullable String boundTo) {}

    private final Set<String> issuers;
    private final Supplier<Set<String>> audiences;
    private final @Nullable String groupClaim;
    private final InstantSource clock;
    private final GoodTokens<Foreign> good;
    private final Map<String, DefaultJWTProcessor<SecurityContext>> processors = new ConcurrentHashMap<>();

    /**
     * @param issuers whose tokens are taken, as they name themselves
     * @param audiences any one of which a token has to be for; asked for when there is one
     * @param groupClaim the claim that names the group of a caller; null for the default group
     */
    ForeignTokens(
            Collection<String> issuers,
            Supplier<Set<String>> audiences,
            @Nullable String groupClaim,
            InstantSource clock) {
        issuers.forEach(ForeignTokens::requireSafe);
        this.issuers = Set.copyOf(issuers);
        this.audiences = audiences;
        this.groupClaim = groupClaim;
        this.clock = clock;
        this.good = new GoodTokens<>(clock);
    }

    /** Returns whose token it is, if it was found good within the last minute. */
    @Nullable
    Foreign known(String token) {
        return good.get(token);
    }

    /** Who can change what an issuer says on its way could be anybody. */
    private static String requireSafe(String issuer) {
        URI url = URI.create(issuer);
        boolean local = Set.of("localhost", "127.0.0.1", "[::1]").contains(String.valueOf(url.getHost()));
        if (url.getHost() == null || !("https".equals(url.getScheme()) || local && "http".equals(url.getScheme()))) {
            throw new IllegalArgumentException("issuer: " + issuer + " (expected: an https URL)");
        }
        return issuer;
    }

    /** Where an issuer tells of itself. */
    static String discovery(String issuer) {
        return issuer.replaceFirst("/$", "") + "/.well-known/openid-configuration";
    }

    /** Returns whose token it is; null if it is none of a trusted issuer, or no longer good. */
    @Nullable
    Foreign read(String token) {
        try {
            String issuer = SignedJWT.parse(token).getJWTClaimsSet().getIssuer();
            if (issuer == null || !issuers.contains(issuer)) {
                return null;
            }
            JWTClaimsSet claims = processor(issuer).process(token, null);
            var foreign = new Foreign(principal(issuer, claims), boundTo(claims));
            Instant now = clock.instant();
            Instant end = claims.getExpirationTime().toInstant().plus(SKEW);
            good.put(token, new Good<>(foreign, end.isBefore(now.plus(GOOD_FOR)) ? end : now.plus(GOOD_FOR)));
            return foreign;
        } catch (ParseException | BadJOSEException | JOSEException | IllegalArgumentException notGood) {
            LOG.log(System.Logger.Level.DEBUG, "a token is refused", notGood);
            return null;
        } catch (IOException unreachable) {
            LOG.log(System.Logger.Level.WARNING, "the keys of an issuer cannot be read", unreachable);
            return null;
        }
    }

    /** Two issuers may have a user of the same name, and the hub one too; they are not the same. */
    private Principal principal(String issuer, JWTClaimsSet claims) throws ParseException {
        String name = claims.getSubject() + "@" + URI.create(issuer).getAuthority();
        String group = groupClaim == null ? null : claims.getStringClaim(groupClaim);
        return new Principal(
                group == null ? Principal.DEFAULT_GROUP : Principal.requireGroup(group),
                Principal.requireName(name),
                scopes(claims));
    }

    private static Set<String> scopes(JWTClaimsSet claims) {
        var scopes = new TreeSet<String>();
        for (String name : List.of("scope", "scp")) {
            switch (claims.getClaim(name)) {
                case String text -> List.of(text.split(" ", -1)).forEach(scopes::add);
                case Collection<?> list -> list.forEach(one -> scopes.add(String.valueOf(one)));
                case null, default -> {}
            }
        }
        scopes.remove("");
        scopes.remove(Trust.ADMIN); // who looks after the hub is said here, not elsewhere
        return scopes;
    }

    private static @Nullable String boundTo(JWTClaimsSet claims) throws ParseException {
        Map<String, Object> confirmation = claims.getJSONObjectClaim("cnf");
        return confirmation == null ? null : JSONObjectUtils.getString(confirmation, "jkt");
    }

    private DefaultJWTProcessor<SecurityContext> processor(String issuer) throws IOException, ParseException {
        DefaultJWTProcessor<SecurityContext> known = processors.get(issuer);
        if (known != null) {
            return known;
        }
        var retriever = new DefaultResourceRetriever(PATIENCE_MS, PATIENCE_MS, MAX_BYTES);
        URL discovery = URI.create(discovery(issuer)).toURL();
        Map<String, Object> found =
                JSONObjectUtils.parse(retriever.retrieveResource(discovery).getContent());
        if (!issuer.equals(found.get("issuer"))) {
            throw new IOException(discovery + " names another issuer: " + found.get("issuer"));
        }
        String keys = requireSafe(String.valueOf(found.get("jwks_uri")));
        JWKSource<SecurityContext> source =
                JWKSourceBuilder.create(URI.create(keys).toURL(), retriever).build();
        var processor = new DefaultJWTProcessor<SecurityContext>();
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(TYPES));
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(ALGORITHMS, source));
        processor.setJWTClaimsSetVerifier(new Claims(issuer, audiences.get()));
        DefaultJWTProcessor<SecurityContext> first = processors.putIfAbsent(issuer, processor);
        return first == null ? processor : first;
    }

    private final class Claims extends DefaultJWTClaimsVerifier<SecurityContext> {
        Claims(String issuer, Set<String> audiences) {
            super(audiences, new JWTClaimsSet.Builder().issuer(issuer).build(), Set.of("sub", "exp"), Set.of());
            setMaxClockSkew((int) SKEW.toSeconds());
        }

        @Override
        protected Date currentTime() {
            return Date.from(clock.instant());
        }
    }
}
