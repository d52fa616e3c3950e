package dev.parley.trust.cards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import dev.parley.dialect.served.CardPayload;
import dev.parley.testkit.SettableClock;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever comes as a signed card, it is verified only if it says what was signed. */
final class SignedCardFuzzTest {
    private static final SettableClock CLOCK = new SettableClock(Instant.parse("2026-01-05T10:00:00Z"));
    private static final byte[] CARD = """
        {"name":"Test","description":"Größe 12","supportedInterfaces":[{"url":"https://a.example/a2a",\
        "protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"version":"1","capabilities":{"streaming":false},\
        "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}\
        """.getBytes(UTF_8);
    private static final List<CardKey> KEYS = keys();

    private final CardTrust trust = new CardTrust(KEYS, CLOCK);

    private static List<CardKey> keys() {
        try {
            JWK ec = new ECKeyGenerator(Curve.P_256).keyID("k1").generate();
            KeyPair ed = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            return Stream.of(ec.toJSONString(), KeyFileFuzzTest.pem("PRIVATE KEY", ed.getPrivate()))
                    .flatMap(text -> KeyFile.parse(text).stream())
                    .toList();
        } catch (JOSEException | NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    static Stream<byte[]> examples() {
        return Stream.concat(
                Stream.of(CARD),
                KEYS.stream()
                        .map(key -> CardKeys.of(List.of(key), CLOCK)
                                .signer("https://a.example/keys")
                                .signed(CARD)));
    }

    @MethodSource("examples")
    @FuzzTest(maxDuration = "2m")
    void cards(byte[] card) {
        if (trust.verify(card).isVerified()) {
            assertThat(CardPayload.of(card).found())
                    .isEqualTo(CardPayload.of(CARD).found());
        }
    }
}
