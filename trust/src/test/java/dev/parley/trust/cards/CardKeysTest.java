package dev.parley.trust.cards;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.OctetSequenceKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.KeyPairGenerator;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys of cards, and the files that hold them. */
@Tag("heavy")
final class CardKeysTest {
    private static final byte[] CARD = "{\"name\":\"Test\",\"url\":\"https://a.example\"}".getBytes(UTF_8);

    /** As {@code openssl genpkey} wrote it. */
    private static final String EC_PEM = """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgs2gI73ymTAri2wdB
            PlP8hxeDa1qprRCv8EY18CgwGoKhRANCAATzYn6wJ5jio0VTu+3g9l8b058xwRRF
            YETYbP3ipm/hWlwsvzB54YZieStvPRmnK6t9Y5xqQ6INOcKNlouUNttY
            -----END PRIVATE KEY-----
            """;

    private static final String EC_PUBLIC_PEM = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE82J+sCeY4qNFU7vt4PZfG9OfMcEU
            RWBE2Gz94qZv4VpcLL8weeGGYnkrbz0ZpyurfWOcakOiDTnCjZaLlDbbWA==
            -----END PUBLIC KEY-----
            """;

    private static final String ED_PEM = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEIFfN5jRxZKtixB1sqwF9gkp9c0LxAEvXNxu0PeoM4ID0
            -----END PRIVATE KEY-----
            """;

    private static final String ED_PUBLIC_PEM = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEAJaEPiOBn4sQBkVrOrDc0TH3giQ0vcfccCnUUDtaxjgc=
            -----END PUBLIC KEY-----
            """;

    @TempDir
    Path directory;

    @Test
    void aNewKeyIsItsOwnersAloneAndIsNotOverwritten() throws IOException {
        Path file = directory.resolve("key.json");

        String id = CardKeys.create(file, CardKeys.Algorithm.ES256, null);

        assertThat(Files.getPosixFilePermissions(file))
                .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
        assertThat(CardKeys.read(List.of(file)).id()).isEqualTo(id);
        assertThatThrownBy(() -> CardKeys.create(file, CardKeys.Algorithm.ES256, null))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("keys are not overwritten");
    }

    @Test
    @DisplayName("GEM07: the first key signs, and the public halves of all are published")
    void theFirstKeySignsAndAllArePublished() throws Exception {
        Path now = directory.resolve("now.json");
        Path next = directory.resolve("next.json");
        String nowId = CardKeys.create(now, CardKeys.Algorithm.EDDSA, null);
        String nextId = CardKeys.create(next, CardKeys.Algorithm.ES256, Instant.parse("2100-01-01T00:00:00Z"));

        CardKeys keys = CardKeys.read(List.of(now, next));

        String published = new String(keys.published(), UTF_8);
        assertThat(published).doesNotContain("\"d\":");
        assertThat(JWKSet.parse(published).getKeys()).extracting("keyID").containsExactly(nowId, nextId);
        assertThat(JWKSet.parse(published).getKeyByKeyId(nextId).getExpirationTime())
                .isEqualTo(Instant.parse("2100-01-01T00:00:00Z"));
        assertThat(CardTrust.of(published)
                        .verify(keys.signer(null).signed(CARD))
                        .keyId())
                .isEqualTo(nowId);
        Path old = write(published);
        assertThat(CardTrust.of(published)
                        .verify(CardKeys.read(List.of(next)).signer(null).signed(CARD))
                        .keyId())
                .isEqualTo(nextId);
        assertThatThrownBy(() -> CardKeys.read(List.of(old)))
                .hasMessage("card key " + nowId + ": public (expected: a private key that is good now, to sign with)");
        assertThatThrownBy(() -> CardKeys.read(List.of(now, old))).hasMessageContaining("duplicate id");
    }

    @Test
    void anExpiredKeyDoesNotSign() {
        Path file = directory.resolve("key.json");
        CardKeys.create(file, CardKeys.Algorithm.ES256, Instant.parse("2026-01-01T00:00:00Z"));

        assertThatThrownBy(() -> CardKeys.read(List.of(file)))
                .hasMessageContaining("expired since 2026-01-01T00:00:00Z");
    }

    @ParameterizedTest
    @CsvSource({"EC", "Ed25519"})
    void keysOfOpenSslAreRead(String kind) throws IOException {
        boolean ec = kind.equals("EC");
        CardKeys keys = CardKeys.read(List.of(write(ec ? EC_PEM : ED_PEM)));

        CardTrust trust = CardTrust.read(List.of(write(ec ? EC_PUBLIC_PEM : ED_PUBLIC_PEM)));

        assertThat(trust.verify(keys.signer(null).signed(CARD)).isVerified()).isTrue();
        assertThat(trust.verify(keys.signer(null).signed(CARD)).keyId()).isEqualTo(keys.id());
    }

    @Test
    void anRsaKeyVerifiesButDoesNotSign() throws Exception {
        var pair = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        Path jwk = write(new RSAKeyGenerator(2048).generate().toJSONString());
        Path pem = write(pem("PRIVATE KEY", pair.getPrivate().getEncoded()));

        assertThat(CardTrust.of(pem("PUBLIC KEY", pair.getPublic().getEncoded())))
                .isNotNull();
        assertThat(CardTrust.read(List.of(jwk))).isNotNull();
        assertThatThrownBy(() -> CardKeys.read(List.of(jwk))).hasMessageContaining("public (expected: a private key");
        assertThatThrownBy(() -> CardKeys.read(List.of(pem)))
                .hasMessage(pem + ": private key of another kind (expected: EC on P-256, or Ed25519)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "hello",
                "{}",
                "{\"keys\":[]}",
                "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}",
                "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA\"}",
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
                "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
                "-----BEGIN PUBLIC KEY-----\nA\n-----END PUBLIC KEY-----",
                // A point that is not on its curve.
                "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYAlO7mPmEJVzWE79KuZZrWu0oR\n"
                        + "FIuZ7ohVpLVV5hnsJFRsYjjoyOXEZmaQU8heVdphxhJIGoh7yvJaMtWIqA0Q==\n-----END PUBLIC KEY-----",
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
                "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----",
            })
    void whatIsNoKeyIsSaidToBeNone(String text) throws IOException {
        Path file = write(text);

        assertThatThrownBy(() -> CardTrust.read(List.of(file)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(file + ": ")
                .hasMessageContaining("(expected: ");
    }

    @Test
    void keysOfOtherKindsAreRefused() throws Exception {
        String secret = new OctetSequenceKeyGenerator(256).generate().toJSONString();
        String small = new RSAKeyGenerator(1024, true).generate().toJSONString();
        String forEncryption = "{\"use\":\"enc\"," + EC_JWK.substring(1);

        assertThatThrownBy(() -> CardTrust.of(secret)).hasMessageContaining("key: oct (expected: EC on P-256");
        assertThatThrownBy(() -> CardTrust.of(small)).hasMessageContaining("key: 1024 bits (expected: >= 2048)");
        assertThatThrownBy(() -> CardTrust.of(forEncryption)).hasMessageContaining("key: use enc (expected: sig)");
    }

    @Test
    void anEcKeyWithoutItsPublicHalfIsNotGuessed() throws Exception {
        var generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(256);
        byte[] half = generator.generateKeyPair().getPrivate().getEncoded();
        String otherHalf = EC_PEM.replace(
                "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgs2gI73ym",
                "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgs2gI73yn");

        assertThatThrownBy(() -> CardKeys.read(List.of(write(pem("PRIVATE KEY", half)))))
                .hasMessageContaining("without its public half");
        assertThatThrownBy(() -> CardKeys.read(List.of(write(otherHalf))))
                .hasMessageContaining("public half that is another key's");
    }

    private static final String EC_JWK = "{\"kty\":\"EC\",\"crv\":\"P-256\","
            + "\"x\":\"82J-sCeY4qNFU7vt4PZfG9OfMcEURWBE2Gz94qZv4Vo\","
            + "\"y\":\"XCy_MHnhhmJ5K289Gacrq31jnGpDog05wo2Wi5Q221g\"}";

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + label
                + "-----\n";
    }

    private Path write(String text) throws IOException {
        return Files.writeString(Files.createTempFile(directory, "key", ".txt"), text);
    }
}
