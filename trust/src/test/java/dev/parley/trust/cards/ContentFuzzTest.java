package dev.parley.trust.cards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Encrypted content of any form is decrypted, or refused with a reason. */
final class ContentFuzzTest {
    private static final byte[] CONTENT = "{\"task\":\"research\"}".getBytes(UTF_8);
    private static final ContentKeys KEYS = keys();

    private static ContentKeys keys() {
        try {
            return ContentKeys.of(new ECKeyGenerator(Curve.P_256)
                    .keyUse(KeyUse.ENCRYPTION)
                    .algorithm(JWEAlgorithm.ECDH_ES)
                    .keyID("k1")
                    .generate()
                    .toJSONString());
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    static Stream<byte[]> examples() {
        return Stream.of(KEYS.encrypt(CONTENT, "planner", "researcher"), "e30....", "eyJhbGciOiJFQ0RILUVTIn0....")
                .map(text -> text.getBytes(UTF_8));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void content(byte[] jwe) {
        try {
            assertThat(KEYS.decrypt(new String(jwe, UTF_8), "planner", "researcher"))
                    .isEqualTo(CONTENT);
        } catch (IllegalArgumentException refused) {
            assertThat(refused).hasMessageContaining("expected: ");
        }
    }
}
