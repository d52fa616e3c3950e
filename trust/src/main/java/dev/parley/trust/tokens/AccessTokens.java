package dev.parley.trust.tokens;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.proc.SingleKeyJWSKeySelector;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import dev.parley.trust.tokens.GoodTokens.Good;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Supplier;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Signed, expiring access tokens that this hub issues and that only it accepts.
 *
 * <p>Which algorithm and key count is settled here; what the header of a token says of keys is not looked at. Safe for any
 * thread.
 *
 * <p>Source: RFC 9068; RFC 8725, sections 3.1, 3.8, 3.9 and 3.11.
 */
public final class AccessTokens {
    public static final Duration LIFE = Duration.ofMinutes(15);

    private static final JWSAlgorithm ALGORITHM = JWSAlgorithm.HS256;
    private static final JOSEObjectType TYPE = new JOSEObjectType("at+jwt");
    private static final String CLIENT = "client_id";
    private static final String SCOPE = "scope";
    private static final String CONFIRMATION = "cnf";
    private static final String SESSION = "sid";
    private static final String GROUP = "group";
    private static final String KEY = "key";
    private static final String THUMBPRINT = "jkt";

    /**
     * Claims of a token.
     *
     * @param boundTo thumbprint of the key that its holder must prove, or null
     * @param session the sign-in of a user; null for a client that acts for itself
     */
    public record Grant(
            String caller,
            String clientId,
            Set<String> scopes,
            @Nullable String boundTo,
            @Nullable Session session) {
        public Grant(String caller, String clientId, Set<String> scopes, @Nullable String boundTo) {
            this(caller, clientId, scopes, boundTo, null);
        }
    }

    /**
     * The sign-in of a user through a client.
     *
     * @param id of the sign-in
     * @param key id of the API key in the directory by which the user has signed in; empty for one of the configuration
     * @param resource for which the token is: the address of the hub, or one below
     */
    public record Session(String id, String group, String key, String resource) {}

    private final SecretKey key;
    private final Supplier<String> hub;
    private final GoodTokens<Grant> known;
    private final InstantSource clock;
    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();

    /**
     * @param key at least 32 secret bytes
     * @param hub the address of the hub, which makes the tokens and for which they are; asked for when there is one
     */
    public AccessTokens(byte[] key, Supplier<String> hub, InstantSource clock) {
        this.key = new SecretKeySpec(key, "HmacSHA256");
        this.hub = hub;
        this.clock = clock;
        this.known = new GoodTokens<>(clock);
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(TYPE));
        processor.setJWSKeySelector(new SingleKeyJWSKeySelector<>(ALGORITHM, this.key));
        processor.setJWTClaimsSetVerifier((claims, context) -> new Claims(hub.get()).verify(claims, context));
    }

    private final class Claims extends DefaultJWTClaimsVerifier<SecurityContext> {
        private final String hub;

        Claims(String hub) {
            super(hub, new JWTClaimsSet.Builder().issuer(hub).build(), Set.of("sub", "exp", CLIENT, SCOPE));
            setMaxClockSkew(0); // the clock that made them is the one that reads them
            this.hub = hub;
        }

        /** A token for an address below the hub is one for the hub, which calls at that address can use. */
        @Override
        public void verify(JWTClaimsSet claims, @Nullable SecurityContext context) throws BadJWTException {
            List<String> servers = claims.getAudience().stream()
                    .map(audience -> audience.startsWith(hub + "/") ? hub : audience)
                    .toList();
            super.verify(new JWTClaimsSet.Builder(claims).audience(servers).build(), context);
        }

        @Override
        protected Date currentTime() {
            return Date.from(clock.instant());
        }
    }

    public String issue(Grant grant) {
        Instant now = clock.instant();
        Session session = grant.session();
        var claims = new JWTClaimsSet.Builder()
                .issuer(hub.get())
                .audience(session == null ? hub.get() : session.resource())
                .subject(grant.caller())
                .claim(CLIENT, grant.clientId())
                .claim(SCOPE, String.join(" ", grant.scopes()))
                .claim(SESSION, session == null ? null : session.id())
                .claim(GROUP, session == null ? null : session.group())
                .claim(KEY, session == null ? null : session.key())
                .claim(CONFIRMATION, grant.boundTo() == null ? null : Map.of(THUMBPRINT, grant.boundTo()))
                .issueTime(Date.from(now))
                .expirationTime(Date.from(now.plus(LIFE)))
                .jwtID(UUID.randomUUID().toString())
                .build();
        var token = new SignedJWT(new JWSHeader.Builder(ALGORITHM).type(TYPE).build(), claims);
        try {
            token.sign(new MACSigner(key));
        } catch (JOSEException e) {
            throw new IllegalStateException("tokens cannot be signed", e);
        }
        return token.serialize();
    }

    /** Returns the contents of a token; null if it is not of this hub, or no longer valid. */
    public @Nullable Grant read(String token) {
        Grant before = known.get(token);
        if (before != null) {
            return before;
        }
        try {
            JWTClaimsSet claims = processor.process(token, null);
            var scopes = new TreeSet<String>();
            for (String scope : claims.getStringClaim(SCOPE).split(" ", -1)) {
                if (!scope.isEmpty()) {
                    scopes.add(scope);
                }
            }
            Map<String, Object> confirmation = claims.getJSONObjectClaim(CONFIRMATION);
            String boundTo = confirmation == null ? null : JSONObjectUtils.getString(confirmation, THUMBPRINT);
            String session = claims.getStringClaim(SESSION);
            var grant = new Grant(
                    claims.getSubject(),
                    claims.getStringClaim(CLIENT),
                    scopes,
                    boundTo,
                    session == null
                            ? null
                            : new Session(
                                    session,
                                    claims.getStringClaim(GROUP),
                                    claims.getStringClaim(KEY),
                                    claims.getAudience().getFirst()));
            known.put(token, new Good<>(grant, claims.getExpirationTime().toInstant()));
            return grant;
        } catch (ParseException | BadJOSEException | JOSEException notGood) {
            return null;
        }
    }
}
