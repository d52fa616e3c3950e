package dev.parley.hub.secrets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.encryption.ValueCipher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The secrets of a hub as a document. */
final class SecretBundleTest {
    private static final Map<String, String> SECRETS = Map.of(
            "token.secret", StandardWebhooks.newSecret(),
            "webhook.master", StandardWebhooks.newSecret(),
            "encryption.key", ValueCipher.newKey(),
            "webhook.secret", StandardWebhooks.newSecret());

    @TempDir
    private Path directory;

    @Test
    void aDirectoryGetsTheSecretsOfAnotherOne() throws Exception {
        Path first = directory.resolve("first");
        Path second = directory.resolve("second");
        new SecretBundle(SECRETS).write(first);
        Files.writeString(first.resolve("token.secret"), "\n", StandardOpenOption.APPEND);
        Files.writeString(first.resolve("other"), "not one of them");

        SecretBundle bundle = SecretBundle.read(SecretBundle.of(first).json());
        bundle.write(second);

        assertThat(bundle.secrets()).isEqualTo(SECRETS);
        assertThat(SecretBundle.of(second)).isEqualTo(bundle);
        assertThat(OwnersOnly.is(second)).isTrue();
        for (String name : SecretFile.NAMES) {
            assertThat(OwnersOnly.is(second.resolve(name))).as(name).isTrue();
        }
        assertThat(bundle.differing(second)).isEmpty();
        assertThat(bundle.differing(directory.resolve("new"))).isEmpty();
        Files.writeString(second.resolve("token.secret"), "short");
        Files.writeString(second.resolve("encryption.key"), ValueCipher.newKey());
        assertThat(bundle.differing(second)).isEqualTo(List.of("token.secret", "encryption.key"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ''                                                              | no JSON object
            not JSON, 0123456789abcdef0123456789abcdef                      | no JSON object
            []                                                              | no JSON object
            {}                                                              | no "parleySecrets"
            {"parleySecrets":1}                                             | no "secrets"
            {"parleySecrets":2,"secrets":{}}                                | version 2 (expected: 1
            {"parleySecrets":1,"secrets":{}}                                | no secrets
            {"parleySecrets":1,"secrets":{"../x":"0123456789"}}             | secret "../x": unknown
            {"parleySecrets":1,"secrets":{"token.secret":"0123456789"}}     | secret "token.secret": 10 characters
            {"parleySecrets":1,"secrets":{"token.secret":7}}                | secret "token.secret": 0 characters
            {"parleySecrets":1,"secrets":{"encryption.key":"0123456789abcdef0123456789abcdef"}} | a key has 24 bytes
            {"parleySecrets":1,"secrets":{"webhook.master":"0123456789abcdef 123456789abcdef"}} | expected:
            """)
    void anotherDocumentIsRefused(String document, String problem) {
        assertThatThrownBy(() -> SecretBundle.read(document.getBytes(UTF_8)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(problem)
                .hasMessageNotContaining("0123456789abcdef");
    }
}
