package dev.parley.trust;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.testkit.SettableClock;
import dev.parley.trust.tokens.Proofs;
import dev.parley.trust.tokens.Secrets;
import java.time.Instant;
import java.util.Date;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is shown as a proof, it is of a holder who has signed it, or of nobody. */
final class ProofFuzzTest {
    private static final Instant NOW = Instant.parse("2026-01-05T10:00:00Z");
    private static final String URL = "https://agents.example.com/agents/echo";
    private static final String TOKEN = "a.b.c";

    private static final Set<String> HOLDERS = new HashSet<>();

    private final Proofs proofs = new Proofs(new SettableClock(NOW), null);

    static Stream<byte[]> examples() throws JOSEException {
        ECKey ec = new ECKeyGenerator(Curve.P_256).generate();
        RSAKey rsa = new RSAKeyGenerator(2048).generate();
        return Stream.of(
                proof(JWSAlgorithm.ES256, ec, new ECDSASigner(ec)),
                proof(JWSAlgorithm.PS256, rsa, new RSASSASigner(rsa)),
                "..".getBytes(UTF_8));
    }

    private static byte[] proof(JWSAlgorithm algorithm, JWK key, JWSSigner signer) throws JOSEException {
        HOLDERS.add(key.computeThumbprint().toString());
        var header = new JWSHeader.Builder(algorithm)
                .type(new JOSEObjectType("dpop+jwt"))
                .jwk(key.toPublicJWK());
        var claims = new JWTClaimsSet.Builder()
                .jwtID("once")
                .claim("htm", "POST")
                .claim("htu", URL)
                .claim("ath", Base64URL.encode(Secrets.hash(TOKEN)).toString())
                .issueTime(Date.from(NOW));
        var proof = new SignedJWT(header.build(), claims.build());
        proof.sign(signer);
        return proof.serialize().getBytes(UTF_8);
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void proofs(byte[] bytes) {
        var headers = Map.of("DPoP", new String(bytes, UTF_8));
        var arrival = new RequestHead("POST", "/agents/echo", headers::get, "192.0.2.1", null);

        String holder = proofs.holder(arrival, URL);

        assertThat(holder == null || HOLDERS.contains(holder)).isTrue();
        assertThat(proofs.isHeld(arrival, URL, TOKEN, "nobody")).isFalse();
    }
}
