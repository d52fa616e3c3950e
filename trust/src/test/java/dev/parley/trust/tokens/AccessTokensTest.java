package dev.parley.trust.tokens;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.tokens.AccessTokens.Grant;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which tokens are taken: those made here, as they were made, while they are good. */
final class AccessTokensTest {
    private static final String HUB = "https://agents.example.com";
    private static final byte[] KEY = "a key of thirty-two bytes, 32 of".getBytes(UTF_8);
    private static final JOSEObjectType TYPE = new JOSEObjectType("at+jwt");

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));
    private final AccessTokens tokens = new AccessTokens(KEY, () -> HUB, clock);

    @Test
    void aTokenSaysForWhomItWasMade() {
        var grant = new Grant("shop", "shop-client", Set.of("read", "write"), null);

        assertThat(tokens.read(tokens.issue(grant))).isEqualTo(grant);
        assertThat(tokens.read(tokens.issue(new Grant("shop", "shop-client", Set.of(), null))))
                .isEqualTo(new Grant("shop", "shop-client", Set.of(), null));
    }

    @Test
    void aTokenIsGoodForItsLifeAndNoLonger() {
        String token = tokens.issue(new Grant("shop", "c", Set.of(), null));

        clock.advance(AccessTokens.LIFE.minusSeconds(1));
        assertThat(tokens.read(token)).isNotNull();
        clock.advance(Duration.ofSeconds(1));
        assertThat(tokens.read(token)).isNull();
    }

    @Test
    void aTokenOfAnotherHubIsNotTakenEvenUnderTheSameKey() {
        var other = new AccessTokens(KEY, () -> "https://other.example.com", clock);

        assertThat(tokens.read(other.issue(new Grant("shop", "c", Set.of(), null))))
                .isNull();
    }

    @Test
    void aTokenForAnotherAudienceOrOfAnotherKindIsNotTaken() throws Exception {
        assertThat(tokens.read(signed(TYPE, claims().build()))).isNotNull();

        assertThat(tokens.read(signed(
                        TYPE, claims().audience("https://other.example.com").build())))
                .isNull();
        assertThat(tokens.read(signed(
                        TYPE, claims().issuer("https://other.example.com").build())))
                .isNull();
        assertThat(tokens.read(signed(TYPE, claims().expirationTime(null).build())))
                .isNull();
        assertThat(tokens.read(signed(TYPE, claims().subject(null).build()))).isNull();
        assertThat(tokens.read(signed(TYPE, claims().claim("scope", 7).build())))
                .isNull();
        assertThat(tokens.read(signed(
                        TYPE,
                        claims().notBeforeTime(Date.from(clock.instant().plusSeconds(1)))
                                .build())))
                .isNull();
        assertThat(tokens.read(signed(JOSEObjectType.JWT, claims().build()))).isNull();
    }

    @Test
    void theHeaderOfATokenDoesNotChooseAlgorithmOrKey() throws Exception {
        RSAKey strangers = new RSAKeyGenerator(2048).generate();
        var rsa = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256)
                        .type(TYPE)
                        .jwk(strangers.toPublicJWK())
                        .jwkURL(URI.create("http://127.0.0.1:1/keys"))
                        .build(),
                claims().build());
        rsa.sign(new RSASSASigner(strangers));
        var longer = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.HS512).type(TYPE).build(), claims().build());
        longer.sign(new MACSigner((new String(KEY, UTF_8) + new String(KEY, UTF_8)).getBytes(UTF_8)));

        assertThat(tokens.read(rsa.serialize())).isNull();
        assertThat(tokens.read(longer.serialize())).isNull();
        assertThat(tokens.read(new PlainJWT(claims().build()).serialize())).isNull();
    }

    @Test
    void whatWasChangedIsNotTaken() {
        String token = tokens.issue(new Grant("shop", "c", Set.of(), null));
        String[] parts = token.split("\\.", -1);

        assertThat(tokens.read(parts[0] + "." + parts[1] + ".")).isNull();
        assertThat(tokens.read(parts[0] + "." + parts[1].substring(1) + "." + parts[2]))
                .isNull();
        for (String nonsense : new String[] {"", ".", "..", "a.b.c", "....", "{}", token + ".x", " "}) {
            assertThat(tokens.read(nonsense)).as(nonsense).isNull();
        }
    }

    private JWTClaimsSet.Builder claims() {
        return new JWTClaimsSet.Builder()
                .issuer(HUB)
                .audience(HUB)
                .subject("shop")
                .claim("client_id", "c")
                .claim("scope", "")
                .expirationTime(Date.from(clock.instant().plusSeconds(60)));
    }

    private static String signed(JOSEObjectType type, JWTClaimsSet claims) throws Exception {
        var token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.HS256).type(type).build(), claims);
        token.sign(new MACSigner(KEY));
        return token.serialize();
    }
}
