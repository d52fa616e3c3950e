package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.engine.Agent;
import dev.parley.hub.admin.HubOperation.Level;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.encryption.SecretPrints;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.NotOpenedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Filter;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The secrets of a hub against those that its database belongs with. */
@Timeout(120)
@Tag("heavy")
final class SecretMatchTest {
    private static final List<String> FILES = List.of("token.secret", "webhook.master", "encryption.key");

    @TempDir
    private Path directory;

    private HubBuilder hub(String data) {
        return Hub.builder()
                .data(directory.resolve(data))
                .port(0)
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text())));
    }

    private Path file(String name) {
        return directory.resolve("data").resolve(name);
    }

    private Map<String, String> prints() {
        try (Database database = Database.openForReading(directory.resolve("data"))) {
            return SecretPrints.in(database);
        }
    }

    private static String another(String name) {
        return name.equals("encryption.key") ? ValueCipher.newKey() : StandardWebhooks.newSecret();
    }

    private void assertRefused(HubBuilder hub, String file, String problem) {
        assertThatThrownBy(hub::start)
                .isInstanceOfSatisfying(
                        NotOpenedException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(NotOpenedException.Reason.SECRETS))
                .hasMessageContaining("\"" + directory.resolve(file) + "\": " + problem)
                .hasMessageContaining("parley secrets import");
    }

    @ParameterizedTest
    @ValueSource(strings = {"token.secret", "webhook.master", "encryption.key"})
    void aHubWithAnotherSecretDoesNotStart(String name) throws Exception {
        hub("data").start().close();
        Map<String, String> prints = prints();
        String secret = Files.readString(file(name));
        String other = another(name);
        Files.writeString(file(name), other);

        assertRefused(hub("data"), "data/" + name, "not the one that the database belongs with");

        assertThat(file(name)).hasContent(other);
        assertThat(prints()).isEqualTo(prints).containsOnlyKeys(FILES);
        assertThat(Checkup.of(directory.resolve("data"), null, null)).anySatisfy(finding -> {
            assertThat(finding.check()).isEqualTo(name);
            assertThat(finding.level()).isEqualTo(Level.PROBLEM);
            assertThat(finding.message()).contains("not the one that the database belongs with");
        });
        Files.writeString(file(name), secret + "\n");
        hub("data").start().close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"token.secret", "webhook.master", "encryption.key"})
    void aMissingSecretIsNotMadeAnew(String name) throws Exception {
        hub("data").start().close();
        Files.delete(file(name));

        assertRefused(hub("data"), "data/" + name, "missing, and the database belongs with one");

        assertThat(file(name)).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"token.secret", "webhook.master", "encryption.key"})
    void aForgottenSecretIsTakenFromTheNextStart(String name) throws Exception {
        hub("data").start().close();
        String before = prints().get(name);
        Files.delete(file(name));
        try (Database database = Database.open(directory.resolve("data"))) {
            assertThat(SecretPrints.forget(database, name)).isTrue();
            assertThat(SecretPrints.forget(database, name)).isFalse();
        }

        hub("data").start().close();

        assertThat(file(name)).isNotEmptyFile();
        assertThat(prints().get(name)).isNotNull().isNotEqualTo(before);
    }

    @Test
    void aDatabaseOfAnEarlierVersionGetsFingerprintsAtItsFirstStart() {
        hub("data").start().close();
        Map<String, String> prints = prints();
        try (Database database = Database.open(directory.resolve("data"))) {
            database.write(session -> {
                session.once("DROP TABLE secret_print");
                return session.update("DELETE FROM module_version WHERE module = 'secrets'");
            });
        }
        assertThat(prints()).isEmpty();

        hub("data").start().close();

        assertThat(prints()).isEqualTo(prints);
    }

    @Test
    void theSecretOfEarlierVersionsMayBeRemovedButNotReplaced() throws Exception {
        hub("data").start().close();
        Files.writeString(file("webhook.secret"), StandardWebhooks.newSecret());
        hub("data").start().close();
        Files.writeString(file("webhook.secret"), StandardWebhooks.newSecret());

        assertRefused(hub("data"), "data/webhook.secret", "not the one that the database belongs with");

        Files.delete(file("webhook.secret"));
        hub("data").start().close();
    }

    @Test
    void aNewerKeyOfEncryptionTakesThePlaceOfOneBehindIt() throws Exception {
        hub("data").start().close();
        String old = Files.readString(file("encryption.key"));
        String newer = ValueCipher.newKey();
        assertThatThrownBy(() ->
                        hub("data").encryption(ValueCipher.of(List.of(newer))).start())
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("encryption keys of the settings: none of them");

        hub("data").encryption(ValueCipher.of(List.of(newer, old))).start().close();

        assertRefused(hub("data"), "data/encryption.key", "not the one that the database belongs with");
        hub("data").encryption(ValueCipher.of(List.of(newer))).start().close();
        Files.writeString(file("encryption.key"), newer); // the same key in the file
        hub("data").start().close();
    }

    @Test
    void aSecondDirectoryIsRefusedBeforeADatabaseOfPostgresqlChanges() throws Exception {
        String url = PostgresqlServer.url();
        hub("data").database(url).start().close();
        String rows = PostgresqlServer.rows(url);

        hub("other").start().close();
        Files.move(directory.resolve("other/parley.db"), directory.resolve("parley.db"));
        assertRefused(hub("other").database(url), "other/token.secret", "not the one");
        assertRefused(hub("empty").database(url), "empty/token.secret", "missing");

        assertThat(PostgresqlServer.rows(url)).isEqualTo(rows);
        assertThat(directory.resolve("empty")).doesNotExist();
        assertThat(directory.resolve("other/database.url")).doesNotExist();
        for (String name : FILES) {
            Files.copy(
                    file(name),
                    Files.createDirectories(directory.resolve("empty")).resolve(name));
        }
        hub("empty").database(url).start().close();
        hub("data").start().close();
        try (Connection connection = PostgresqlServer.connect(url);
                var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT print FROM secret_print WHERE name = 'token.secret'")) {
            assertThat(row.next()).isTrue();
            assertThat(DatabaseSession.text(row, 1)).hasSize(16);
        }
    }

    /** Starts a hub and ends it; returns its warnings of new secrets. */
    private static List<String> warnings(HubBuilder hub) {
        var warnings = new ArrayList<String>();
        Logger log = Logger.getLogger("dev.parley.hub");
        Filter before = log.getFilter();
        log.setFilter(row -> {
            if (row.getMessage().startsWith("the secrets of the database are made in")) {
                warnings.add(row.getLevel() + " " + row.getParameters()[0]);
            }
            return true;
        });
        try {
            hub.start().close();
        } finally {
            log.setFilter(before);
        }
        return warnings;
    }

    @Test
    void aDirectoryThatIsMadeAnewAtEachStartIsWarnedOfAndThenRefused() throws Exception {
        String url = PostgresqlServer.url();
        Path data = directory.resolve("data");

        assertThat(warnings(hub("data").database(url))).containsExactly("WARNING " + data);
        assertThat(warnings(hub("data"))).as("its second start").isEmpty();
        Files.move(data, directory.resolve("secrets"));

        assertThatThrownBy(() -> hub("data").database(url).start())
                .hasMessageContaining("missing")
                .hasMessageContaining("--secrets")
                .hasMessageContaining("parley secrets forget token.secret");
        assertThat(warnings(hub("data").database(url).secrets(directory.resolve("secrets"))))
                .isEmpty();
    }

    @Test
    void aHubOnSqliteHasItsSecretsBesideTheDatabaseAndIsNotWarned() {
        assertThat(warnings(hub("data"))).isEmpty();
    }

    /** Files as the kubelet mounts them: links to a directory that is replaced as a whole. */
    private Path mount(String version) throws IOException {
        Path mount = Files.createDirectories(directory.resolve("mount"));
        Path contents = Files.createDirectory(mount.resolve(".." + version));
        for (String name : FILES) {
            Files.copy(file(name), contents.resolve(name));
            if (Files.notExists(mount.resolve(name))) {
                Files.createSymbolicLink(mount.resolve(name), Path.of("..data", name));
            }
        }
        Files.deleteIfExists(mount.resolve("..data"));
        Files.createSymbolicLink(mount.resolve("..data"), contents.getFileName());
        return mount;
    }

    @Test
    void secretsOfADirectoryAreReadAndNothingIsMadeThere() throws Exception {
        hub("data").start().close();
        Path mount = mount("1");

        try (Hub hub = hub("mounted").secrets(mount).start()) {
            mount("2");
            assertThat(new Outsider(hub.url()).get("/ready").statusCode()).isEqualTo(200);
            assertThat(Checkup.of(directory.resolve("mounted"), mount, null))
                    .filteredOn(finding -> FILES.contains(finding.check()))
                    .hasSize(3)
                    .allMatch(finding -> finding.level() == Level.OK);
        }
        for (String name : FILES) {
            assertThat(directory.resolve("mounted").resolve(name)).doesNotExist();
        }

        Files.delete(mount.resolve("webhook.master"));
        assertThatThrownBy(() -> hub("new").secrets(mount).start())
                .isInstanceOf(NotOpenedException.class)
                .hasMessageStartingWith("secret file \"" + mount.resolve("webhook.master") + "\": missing");
        assertThat(directory.resolve("new")).doesNotExist();
        assertThat(mount.resolve("webhook.master")).doesNotExist();
    }

    @Test
    void aDirectoryOfSecretsNeedsNoKeyOfEncryptionIfTheSettingsHaveOne() throws Exception {
        hub("data").start().close();
        Path mount = mount("1");
        Files.delete(mount.resolve("encryption.key"));

        hub("mounted")
                .secrets(mount)
                .encryption(ValueCipher.of(List.of(ValueCipher.newKey())))
                .start()
                .close();
        assertThatThrownBy(() -> hub("mounted").secrets(mount).start()).hasMessageContaining("encryption.key");
    }

    @Test
    void aHubInMemoryRefusesADirectoryOfSecrets() {
        assertThatThrownBy(() -> Hub.builder().inMemory().secrets(directory).start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--secrets with --in-memory");
    }
}
