package dev.parley.trust.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.shared.SharedProofs;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A proof counts for one call, by the holder of the key, for a minute, and once. */
final class ProofsTest {
    private static final String URL = "https://agents.example.com/agents/echo";
    private static final String TOKEN = "a.b.c";

    private final SettableClock clock = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));
    private final Proofs proofs = new Proofs(clock, null);
    private ECKey key;

    @BeforeEach
    void make() throws Exception {
        key = new ECKeyGenerator(Curve.P_256).generate();
    }

    private String proof(String type, UnaryOperator<JWTClaimsSet.Builder> change) throws Exception {
        var claims = new JWTClaimsSet.Builder()
                .jwtID(UUID.randomUUID().toString())
                .claim("htm", "POST")
                .claim("htu", URL)
                .claim("ath", Base64URL.encode(Secrets.hash(TOKEN)).toString())
                .issueTime(Date.from(clock.instant()));
        var proof = new SignedJWT(
                new JWSHeader.Builder(key.getCurve().equals(Curve.P_256) ? JWSAlgorithm.ES256 : JWSAlgorithm.ES384)
                        .type(new JOSEObjectType(type))
                        .jwk(key.toPublicJWK())
                        .build(),
                change.apply(claims).build());
        proof.sign(new ECDSASigner(key));
        return proof.serialize();
    }

    private static RequestHead with(String proof) {
        return new RequestHead("POST", "/agents/echo", Map.of("DPoP", proof)::get, "192.0.2.1", null);
    }

    private boolean isGood(String proof) throws Exception {
        return proofs.isHeld(with(proof), URL, TOKEN, key.computeThumbprint().toString());
    }

    @Test
    void theHolderIsKnownByItsKeyOnce() throws Exception {
        String proof = proof("dpop+jwt", claims -> claims);

        assertThat(isGood(proof)).isTrue();
        assertThat(isGood(proof)).isFalse();
        assertThat(isGood(proof("dpop+jwt", claims -> claims))).isTrue();
    }

    @Test
    void aSignatureThatTakesLongIsCheckedToo() throws Exception {
        key = new ECKeyGenerator(Curve.P_384).generate();
        String proof = proof("dpop+jwt", claims -> claims);
        String signature = proof.substring(proof.lastIndexOf('.') + 1);

        assertThat(isGood(proof.replace(signature, new StringBuilder(signature).reverse())))
                .isFalse();
        assertThat(isGood(proof)).isTrue();
    }

    @Test
    void theUrlMayBeWrittenInOtherWays() throws Exception {
        assertThat(isGood(
                        proof("dpop+jwt", claims -> claims.claim("htu", "HTTPS://Agents.example.com:443/agents/echo"))))
                .isTrue();
    }

    @Test
    void whatDoesNotFitIsNoProof() throws Exception {
        assertThat(isGood(proof("JWT", claims -> claims))).isFalse();
        assertThat(isGood(proof("dpop+jwt", claims -> claims.claim("htm", "GET"))))
                .isFalse();
        assertThat(isGood(proof("dpop+jwt", claims -> claims.claim("htu", URL + "2"))))
                .isFalse();
        assertThat(isGood(proof("dpop+jwt", claims -> claims.claim("ath", "x"))))
                .isFalse();
        assertThat(isGood(proof("dpop+jwt", claims -> claims.jwtID(null)))).isFalse();
        assertThat(isGood(proof("dpop+jwt", claims -> claims.issueTime(null)))).isFalse();
        assertThat(isGood("no proof at all")).isFalse();
        String good = proof("dpop+jwt", claims -> claims);
        assertThat(isGood(good + "," + good)).isFalse();
        String signature = good.substring(good.lastIndexOf('.') + 1);
        assertThat(isGood(good.replace(signature, new StringBuilder(signature).reverse())))
                .isFalse();
    }

    @Test
    void aProofIsGoodForAMinute() throws Exception {
        String proof = proof("dpop+jwt", claims -> claims);
        clock.advance(Duration.ofSeconds(61));

        assertThat(isGood(proof)).isFalse();
        assertThat(isGood(proof(
                        "dpop+jwt",
                        claims -> claims.issueTime(Date.from(clock.instant().plusSeconds(61))))))
                .isFalse();
    }

    @Test
    void whoAsksForATokenIsKnownByTheKey() throws Exception {
        String proof = proof("dpop+jwt", claims -> claims.claim("ath", null));

        assertThat(proofs.holder(with(proof), URL))
                .isEqualTo(key.computeThumbprint().toString());
        assertThat(proofs.holder(with(proof), URL)).isNull();
    }

    @Test
    void aProofByAnotherKeyIsNotEvenRemembered() throws Exception {
        String proof = proof("dpop+jwt", claims -> claims);

        assertThat(proofs.isHeld(with(proof), URL, TOKEN, "another")).isFalse();
        assertThat(isGood(proof)).isTrue();
    }

    @Test
    void aProofThatWasShownIsRememberedAsLongAsItIsGood() throws Exception {
        String old = proof("dpop+jwt", claims -> claims);
        String early = proof(
                "dpop+jwt", claims -> claims.issueTime(Date.from(clock.instant().plusSeconds(60))));
        assertThat(isGood(old)).isTrue();
        assertThat(isGood(early)).isTrue();

        clock.advance(Duration.ofSeconds(60));
        assertThat(isGood(old)).isFalse();
        clock.advance(Duration.ofSeconds(60));
        assertThat(isGood(early)).isFalse();
    }

    @Test
    void aProofCountsOnceAtAllHubsOfADatabase() throws Exception {
        var schema = new SharedSchema();
        try (Database one = schema.shared();
                Database other = schema.shared()) {
            var hubs = List.of(new Proofs(clock, SharedProofs.of(one)), new Proofs(clock, SharedProofs.of(other)));
            String thumbprint = key.computeThumbprint().toString();
            for (int i = 0; i < 20; i++) {
                String proof = proof("dpop+jwt", claims -> claims);
                assertThat(hubs.parallelStream()
                                .filter(hub -> hub.isHeld(with(proof), URL, TOKEN, thumbprint))
                                .count())
                        .isOne();
                assertThat(hubs).noneMatch(hub -> hub.isHeld(with(proof), URL, TOKEN, thumbprint));
            }
        }
    }

    @Test
    void proofsOfAHubThatHasItsDatabaseAloneAreInMemoryOnly(@TempDir Path directory) {
        try (Database alone = Database.open(directory)) {
            assertThat(SharedProofs.of(alone)).isNull();
        }
    }
}
