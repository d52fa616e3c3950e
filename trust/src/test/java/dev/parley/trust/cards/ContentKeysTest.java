package dev.parley.trust.cards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDHEncrypter;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import dev.parley.protocol.CardVerifier.Outcome;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Encryption of content, and detached signatures. */
final class ContentKeysTest {
    private static final byte[] CONTENT = "{\"task\":\"research\"}".getBytes(UTF_8);

    @TempDir
    private Path directory;

    private ContentKeys receiver;
    private ContentKeys published;

    @BeforeEach
    void createKeys() {
        Path file = directory.resolve("enc.json");
        ContentKeys.create(file);
        receiver = ContentKeys.read(file);
        published = ContentKeys.of(new String(receiver.published(), UTF_8));
    }

    @Test
    @DisplayName("ONE30: content that is encrypted by the public key is decrypted by the private one only")
    void decryptedByThePrivateKeyOnly() {
        String jwe = published.encrypt(CONTENT, "planner", "researcher");

        assertThat(jwe.split("\\.", -1)).hasSize(5);
        assertThat(receiver.decrypt(jwe, "planner", "researcher")).isEqualTo(CONTENT);
        assertThatThrownBy(() -> published.decrypt(jwe, "planner", "researcher"))
                .hasMessageContaining("another key");
        assertThat(new String(receiver.published(), UTF_8)).doesNotContain("\"d\"");
    }

    @Test
    @DisplayName("content that a third party passes on as its own, or to another receiver, is refused")
    void passedOnContentIsRefused() {
        String jwe = published.encrypt(CONTENT, "planner", "researcher");

        assertThatThrownBy(() -> receiver.decrypt(jwe, "mallory", "researcher")).hasMessageContaining("another sender");
        assertThatThrownBy(() -> receiver.decrypt(jwe, "planner", "writer")).hasMessageContaining("another sender");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3, 4})
    void changedContentIsRefused(int piece) {
        String[] pieces = published.encrypt(CONTENT, "planner", "researcher").split("\\.", -1);
        char first = pieces[piece].isEmpty() ? 'x' : pieces[piece].charAt(0);
        pieces[piece] = (first == 'A' ? 'B' : 'A') + pieces[piece].substring(Math.min(1, pieces[piece].length()));

        assertThatThrownBy(() -> receiver.decrypt(String.join(".", pieces), "planner", "researcher"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "a.b.c.d.e", "....", "eyJhbGciOiJub25lIn0....", "e30....", "bnVsbA...."})
    void otherTextIsRefused(String text) {
        assertThatThrownBy(() -> receiver.decrypt(text, "planner", "researcher"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[]", "{}", "{\"keys\":7}", "{\"keys\":[7]}", "{\"kty\":\"EC\"}", "{\"kty\":7}"})
    void otherTextIsNoKey(String text) {
        assertThatThrownBy(() -> ContentKeys.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected");
    }

    @Test
    @DisplayName("a JWE of another sender that names no parties is decrypted; other algorithms are refused")
    void foreignContent() throws Exception {
        ECKey key = (ECKey)
                JWKSet.parse(new String(receiver.published(), UTF_8)).getKeys().getFirst();

        assertThat(receiver.decrypt(foreign(key, EncryptionMethod.A256GCM), "any", "researcher"))
                .isEqualTo(CONTENT);
        assertThatThrownBy(() -> receiver.decrypt(foreign(key, EncryptionMethod.A128GCM), "any", "researcher"))
                .hasMessageContaining("another algorithm");
    }

    private static String foreign(ECKey key, EncryptionMethod method) throws Exception {
        var jwe = new JWEObject(
                new JWEHeader.Builder(JWEAlgorithm.ECDH_ES, method)
                        .keyID(key.getKeyID())
                        .build(),
                new Payload(CONTENT));
        jwe.encrypt(new ECDHEncrypter(key));
        return jwe.serialize();
    }

    @Test
    @DisplayName("keys for signatures do not encrypt, and keys for encryption do not verify")
    void usesAreKeptApart() {
        Path file = directory.resolve("sig.json");
        CardKeys.create(file, CardKeys.Algorithm.ES256, null);
        CardKeys signing = CardKeys.read(List.of(file));
        String signatures = new String(signing.published(), UTF_8);
        String encryption = new String(receiver.published(), UTF_8);
        String both = signatures.substring(0, signatures.lastIndexOf(']')) + ","
                + encryption.substring(encryption.indexOf('[') + 1);

        assertThatThrownBy(() -> ContentKeys.of(signatures)).hasMessageContaining("no key for encryption");
        assertThatThrownBy(() -> CardTrust.of(encryption)).isInstanceOf(IllegalArgumentException.class);
        assertThat(CardTrust.of(both)
                        .verify(CONTENT, signing.sign(CONTENT), null)
                        .isVerified())
                .isTrue();
        assertThat(receiver.decrypt(ContentKeys.of(both).encrypt(CONTENT, "a", "b"), "a", "b"))
                .isEqualTo(CONTENT);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("ONE13: a detached signature is verified for its payload and its hosts only")
    void detachedSignatures(CardKeys.Algorithm algorithm) {
        Path file = directory.resolve("sig.json");
        CardKeys.create(file, algorithm, null);
        CardKeys keys = CardKeys.read(List.of(file));
        var trust = CardTrust.of(
                new String(CardTrust.entry(new String(keys.published(), UTF_8), List.of("a.example")), UTF_8));

        String jws = keys.sign(CONTENT);

        assertThat(jws).contains("..");
        assertThat(trust.verify(CONTENT, jws, "a.example").outcome()).isEqualTo(Outcome.VERIFIED);
        assertThat(trust.verify("{}".getBytes(UTF_8), jws, "a.example").outcome())
                .isEqualTo(Outcome.TAMPERED);
        assertThat(trust.verify(CONTENT, jws, "b.example").outcome()).isEqualTo(Outcome.UNVERIFIABLE);
        assertThat(trust.verify(CONTENT, jws, null).outcome()).isEqualTo(Outcome.UNVERIFIABLE);
        assertThat(trust.verify(CONTENT, "x.y.z", "a.example").outcome()).isEqualTo(Outcome.UNVERIFIABLE);
        assertThat(trust.verify(CONTENT, "x".repeat(10_000), "a.example").outcome())
                .isEqualTo(Outcome.UNVERIFIABLE);
    }
}
