package dev.parley.store.encryption;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Fingerprints of secrets in a database. */
@Timeout(120)
final class SecretPrintsTest {
    private static final byte[] SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".getBytes(UTF_8);

    @TempDir
    private Path directory;

    @Test
    void aFingerprintIsShortAndDiffersByNameAndSecret() {
        String print = SecretPrints.of("token.secret", SECRET);

        assertThat(print).matches("[0-9a-f]{16}").isEqualTo(SecretPrints.of("token.secret", SECRET.clone()));
        assertThat(print)
                .isNotEqualTo(SecretPrints.of("webhook.master", SECRET))
                .isNotEqualTo(SecretPrints.of("token.secret", "another".getBytes(UTF_8)));
    }

    @Test
    void eachKeyOfEncryptionHasAFingerprint() {
        String older = ValueCipher.newKey();
        String newer = ValueCipher.newKey();

        List<String> prints = ValueCipher.of(List.of(newer, older)).prints("encryption.key");

        assertThat(prints)
                .containsExactly(
                        ValueCipher.of(List.of(newer)).prints("encryption.key").getFirst(),
                        ValueCipher.of(List.of(older)).prints("encryption.key").getFirst())
                .doesNotHaveDuplicates();
    }

    @Test
    void theFirstFingerprintStays() {
        try (Database database = Database.open(directory)) {
            assertThat(SecretPrints.open(database)).isEmpty();
            assertThat(SecretPrints.add(database, Map.of("a", print(1)))).isEqualTo(Map.of("a", print(1)));
            assertThat(SecretPrints.add(database, Map.of("a", print(2), "b", print(3))))
                    .isEqualTo(Map.of("a", print(1), "b", print(3)));

            SecretPrints.replace(database, "a", print(2), print(4)); // it was 1
            SecretPrints.replace(database, "b", print(3), print(5));

            assertThat(SecretPrints.in(database)).isEqualTo(Map.of("a", print(1), "b", print(5)));
        }
        assertThat(SecretPrints.ahead(directory, null))
                .as("SQLite is read once it is open")
                .isEmpty();
    }

    @Test
    void aDamagedFingerprintIsMadeAnew() {
        try (Database database = Database.open(directory)) {
            SecretPrints.open(database);
            SecretPrints.add(database, Map.of("a", print(1), "b", print(2)));
            database.write(session -> session.update("UPDATE secret_print SET print = '{\"x' WHERE name = 'a'"));

            assertThat(SecretPrints.in(database)).isEqualTo(Map.of("b", print(2)));
            assertThat(SecretPrints.add(database, Map.of("a", print(3), "b", print(4))))
                    .isEqualTo(Map.of("a", print(3), "b", print(2)));
        }
    }

    @Test
    void thoseOfPostgresqlAreReadBeforeItIsOpen() throws Exception {
        String url = PostgresqlServer.url();
        assertThat(SecretPrints.ahead(directory, url)).as("no table").isEmpty();
        assertThat(SecretPrints.ahead(directory, "postgresql://nobody@127.0.0.1:1/none"))
                .as("no server")
                .isEmpty();
        Database.name(directory, url);
        try (Database database = Database.open(directory)) {
            SecretPrints.open(database);
            SecretPrints.add(database, Map.of("a", print(1)));

            assertThat(SecretPrints.ahead(directory, null))
                    .isEqualTo(SecretPrints.ahead(directory, url))
                    .isEqualTo(Map.of("a", print(1)));
        }
    }

    private static String print(int digit) {
        return Integer.toString(digit).repeat(16);
    }
}
