package dev.parley.trust;

import static java.util.Objects.requireNonNull;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jose.util.X509CertUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.outbound.GuardedFetch;
import dev.parley.protocol.A2AException;
import dev.parley.trust.tokens.GoodTokens;
import dev.parley.trust.tokens.GoodTokens.Good;
import dev.parley.trust.tokens.Issuer;
import java.security.cert.X509Certificate;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of trusted issuers: an OpenID provider, or another OAuth 2 server that publishes its keys.
 *
 * <p>Which issuer, keys and algorithms count is settled here; what the header of a token says of keys is not looked at, but
 * for the id of one. Keys are fetched when the first token comes, again when one has a key that is not known, and after a
 * minute. A token that was found good is looked at again after a minute too. Safe for any thread.
 */
final class ForeignTokens {
    private static final Duration GOOD_FOR = Duration.ofMinutes(1);
    private static final System.Logger LOG = System.getLogger("dev.parley.trust");

    /**
     * Principal and binding of a token.
     *
     * @param boundTo the JWK thumbprint of a key; null for none
     * @param certificate the SHA-256 thumbprint of a certificate; null for none
     */
    record Foreign(
            Principal principal,
            @Nullable String boundTo,
            @Nullable String certificate) {
        /**
         * False if the token is bound to another certificate than the one of its connection.
         *
         * <p>Source: RFC 8705, section 3.
         */
        boolean mayComeWith(@Nullable X509Certificate shown) {
            return certificate == null
                    || shown != null
                            && certificate.equals(
                                    X509CertUtils.computeSHA256Thumbprint(shown).toString());
        }
    }

    private final Map<String, Issuer> issuers = new LinkedHashMap<>();
    private final @Nullable String groupClaim;
    private final InstantSource clock;
    private final GoodTokens<Foreign> good;

    /**
     * @param issuers of accepted tokens, by their {@code iss}
     * @param audiences any one of which a token has to be for; asked for when there is one
     * @param allowed hosts to which metadata of an issuer may lead besides public ones and those of issuers
     * @param groupClaim the claim that names the group of a caller; null for the default group
     */
    ForeignTokens(
            Collection<String> issuers,
            Collection<String> allowed,
            Supplier<Set<String>> audiences,
            @Nullable String groupClaim,
            InstantSource clock) {
        var names = new HashMap<String, String>();
        GuardedFetch documents = Issuer.documents(issuers, allowed);
        for (String url : issuers) {
            var issuer = new Issuer(url, audiences, clock, documents);
            this.issuers.put(url, issuer);
            String other = names.put(issuer.name(), url);
            if (other != null && !other.equals(url)) {
                throw new IllegalArgumentException(
                        "issuer: " + url + " (expected: another host or path than " + other + ")");
            }
        }
        this.groupClaim = groupClaim;
        this.clock = clock;
        this.good = new GoodTokens<>(clock);
    }

    /** Returns a trusted issuer by its URL. */
    Issuer issuer(String url) {
        return requireNonNull(issuers.get(url), url);
    }

    /** Returns the principal of a token that was validated within the last minute. */
    @Nullable
    Foreign known(String token) {
        return good.get(token);
    }

    /**
     * Returns the principal of a token; null if it is not of a trusted issuer, or has expired.
     *
     * @throws A2AException UNAVAILABLE if its issuer cannot be asked
     */
    @Nullable
    Foreign read(String token) {
        try {
            String name = SignedJWT.parse(token).getJWTClaimsSet().getIssuer();
            Issuer issuer = name == null ? null : issuers.get(name);
            if (issuer == null) {
                return null;
            }
            JWTClaimsSet claims = issuer.claims(token);
            Foreign foreign = bound(principal(issuer, claims), claims);
            Instant now = clock.instant();
            Instant end = Issuer.end(claims);
            good.put(token, new Good<>(foreign, end.isBefore(now.plus(GOOD_FOR)) ? end : now.plus(GOOD_FOR)));
            return foreign;
        } catch (ParseException | BadJOSEException | JOSEException | IllegalArgumentException notGood) {
            LOG.log(System.Logger.Level.DEBUG, "a token is refused", notGood);
            return null;
        }
    }

    /** Two issuers may have a user of the same name, and the hub one too; they are not the same. */
    private Principal principal(Issuer issuer, JWTClaimsSet claims) throws ParseException {
        String name = claims.getSubject() + "@" + issuer.name();
        String group = groupClaim == null ? null : claims.getStringClaim(groupClaim);
        return new Principal(
                group == null ? Principal.DEFAULT_GROUP : Principal.requireGroup(group),
                Principal.requireName(name),
                scopes(claims));
    }

    /**
     * Returns a name that is not one of a user of an issuer.
     *
     * @throws IllegalArgumentException for one that is
     */
    String requireOther(String name) {
        if (issuers.values().stream().anyMatch(issuer -> name.endsWith("@" + issuer.name()))) {
            throw new IllegalArgumentException("principal: " + name + " (expected: not a name of a user of an issuer)");
        }
        return name;
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
        scopes.removeAll(List.of(Principal.ADMIN, Principal.GROUP_ADMIN)); // the hub decides on these, not an issuer
        return scopes;
    }

    /** @throws ParseException if it is bound in an unsupported way */
    private static Foreign bound(Principal principal, JWTClaimsSet claims) throws ParseException {
        Map<String, Object> confirmation = claims.getJSONObjectClaim("cnf");
        if (confirmation == null) {
            return new Foreign(principal, null, null);
        }
        String key = JSONObjectUtils.getString(confirmation, "jkt");
        String certificate = JSONObjectUtils.getString(confirmation, "x5t#S256");
        if (key == null && certificate == null) {
            throw new ParseException("cnf: " + confirmation.keySet() + " (expected: jkt or x5t#S256)", 0);
        }
        return new Foreign(principal, key, certificate);
    }
}
