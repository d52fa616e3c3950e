package dev.parley.trust.cards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import java.security.Key;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is in a file of keys, it holds some, or what is wrong with it is said. */
final class KeyFileFuzzTest {
    static Stream<byte[]> examples() throws JOSEException, NoSuchAlgorithmException {
        ECKey ec = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
        KeyPair ed = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        RSAKey rsa = new RSAKeyGenerator(2048).keyID("k3").generate();
        return Stream.of(
                        "-----BEGIN PUBLIC KEY-----\nA\n-----END PUBLIC KEY-----",
                        ec.toJSONString(),
                        rsa.toPublicJWK().toJSONString(),
                        new JWKSet(List.of(ec, rsa)).toString(false),
                        pem("PUBLIC KEY", ec.toECPublicKey()),
                        pem("PUBLIC KEY", rsa.toRSAPublicKey()),
                        pem("PUBLIC KEY", ed.getPublic()),
                        pem("PRIVATE KEY", ed.getPrivate()),
                        pem("PRIVATE KEY", ec.toECPrivateKey()))
                .map(text -> text.getBytes(UTF_8));
    }

    static String pem(String label, Key key) {
        String encoded = Base64.getMimeEncoder().encodeToString(key.getEncoded());
        return "-----BEGIN " + label + "-----\n" + encoded + "\n-----END " + label + "-----\n";
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void files(byte[] file) {
        try {
            assertThat(KeyFile.parse(new String(file, UTF_8))).isNotEmpty();
        } catch (IllegalArgumentException refused) {
            assertThat(refused).hasMessageContaining("expected: ");
        }
    }
}
