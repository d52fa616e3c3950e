package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley secrets …}, and {@code parley up} with other secrets than those of its database. */
@Timeout(120)
@Tag("heavy")
final class SecretsCommandTest {
    private static final List<String> FILES = List.of("token.secret", "webhook.master", "encryption.key");

    @TempDir
    private Path directory;

    private Shell shell;

    @BeforeEach
    void start() {
        shell = new Shell(directory);
        hub("data").start().close();
    }

    private HubBuilder hub(String data) {
        return Hub.builder()
                .data(directory.resolve(data))
                .port(0)
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text())));
    }

    private String content(String data, String name) throws IOException {
        return Files.readString(directory.resolve(data).resolve(name));
    }

    @Test
    void anotherDirectoryGetsTheSecretsByAFile() throws Exception {
        Shell.Ran exported = shell.run("secrets", "export", "--data", "data", "secrets.json");

        assertThat(exported.status()).as(exported.err()).isZero();
        assertThat(exported.err()).contains("remove the file");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("secrets.json"))))
                .isEqualTo("rw-------");
        for (String name : FILES) {
            assertThat(exported.out()).contains(name).doesNotContain(content("data", name));
        }

        Shell.Ran imported = shell.run("secrets", "import", "--data", "other", "secrets.json");

        assertThat(imported.status()).as(imported.err()).isZero();
        assertThat(imported.err()).isEmpty();
        for (String name : FILES) {
            assertThat(content("other", name)).isEqualTo(content("data", name));
            assertThat(imported.out()).contains(name).doesNotContain(content("data", name));
        }
        assertThat(shell.run("secrets", "import", "--data", "other", "secrets.json")
                        .status())
                .as("the same again")
                .isZero();
        hub("other").start().close();
    }

    @Test
    void secretsGoThroughStandardOutputAndInput() throws Exception {
        Shell.Ran exported = shell.run("secrets", "export", "--data", "data", "-");
        Shell.Ran imported = shell.typing(exported.out()).run("secrets", "import", "-", "--data", "other");

        assertThat(exported.out()).startsWith("{\"parleySecrets\":1,\"secrets\":{\"token.secret\":\"");
        assertThat(exported.err()).isEmpty();
        assertThat(imported.status()).as(imported.err()).isZero();
        assertThat(content("other", "webhook.master")).isEqualTo(content("data", "webhook.master"));
    }

    @Test
    void aFileIsReplacedByForceOnly() throws Exception {
        Files.writeString(directory.resolve("secrets.json"), "mine");

        Shell.Ran refused = shell.run("secrets", "export", "--data", "data", "secrets.json");

        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.err()).contains("exists (expected: a new file)", "--force replaces it");
        assertThat(content(".", "secrets.json")).isEqualTo("mine");
        assertThat(shell.run("secrets", "export", "--data", "data", "secrets.json", "--force")
                        .status())
                .isZero();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("secrets.json"))))
                .isEqualTo("rw-------");
        Files.setPosixFilePermissions(directory.resolve("secrets.json"), PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(shell.run("secrets", "import", "--data", "other", "secrets.json")
                        .err())
                .contains("Warning: other users of the machine can read secrets.json");
    }

    @Test
    void otherSecretsAreReplacedByForceWhileNoHubRuns() throws Exception {
        shell.run("secrets", "export", "--data", "data", "secrets.json");
        String[] replacing = {"secrets", "import", "--data", "other", "secrets.json", "--force"};
        try (Hub hub = hub("other").start()) {
            assertThat(hub.url()).isNotEmpty();
            String own = content("other", "token.secret");

            Shell.Ran refused = shell.run("secrets", "import", "--data", "other", "secrets.json");
            Shell.Ran beside = shell.run(replacing);

            assertThat(refused.status()).isEqualTo(1);
            assertThat(refused.err())
                    .contains("has other secrets, token.secret, webhook.master, encryption.key")
                    .contains("--force replaces them");
            assertThat(beside.err()).contains("a hub runs (expected: one that is stopped)");
            assertThat(content("other", "token.secret")).isEqualTo(own);
        }

        assertThat(shell.run(replacing).status()).isZero();

        for (String name : FILES) {
            assertThat(content("other", name)).isEqualTo(content("data", name));
        }
        Shell.Ran up = shell.run("up", "--data", "other", "--port", "0");
        assertThat(up.status()).isEqualTo(1);
        assertThat(up.err())
                .contains("the hub did not start: secret file \"" + directory.resolve("other/token.secret")
                        + "\": not the one that the database belongs with (expected: ")
                .contains("PARLEY_ERR_DATA")
                .contains("Hint: see Secrets of several hubs in docs/deployment.md");
        assertThat(shell.run("doctor", "--data", "other").out()).contains("token.secret: problem, secret file ");
        for (String name : FILES) {
            Shell.Ran forgotten = shell.run("secrets", "forget", name, "--data", "other");
            assertThat(forgotten.out()).contains("Forgotten: true");
        }
        hub("other").start().close();
        assertThat(shell.run("doctor", "--data", "other").status()).isZero();
    }

    @Test
    void aDirectoryWithoutSecretsAndAFileOfOthersAreRefused() throws Exception {
        Files.createDirectory(directory.resolve("empty"));
        Files.writeString(directory.resolve("other.json"), "{}");

        assertThat(shell.run("secrets", "export", "--data", "empty", "x").err()).contains("no secrets (expected: ");
        assertThat(shell.run("secrets", "export", "--data", "nowhere", "x").err())
                .contains("not a directory");
        assertThat(shell.run("secrets", "import", "--data", "empty", "other.json")
                        .err())
                .contains("secrets of \"other.json\": no \"parleySecrets\"")
                .contains("Hint: parley secrets export makes such a file");
        assertThat(shell.run("secrets", "import", "--data", "empty", "nowhere.json")
                        .status())
                .isEqualTo(2);
        assertThat(shell.run("secrets", "forget", "id_rsa", "--data", "data").err())
                .contains("secret \"id_rsa\": unknown (expected: one of token.secret, ");
        assertThat(directory.resolve("x")).doesNotExist();
        assertThat(directory.resolve("empty")).isEmptyDirectory();
    }

    @Test
    void aSecretIsNotForgottenBesideItsHub() {
        try (Hub hub = hub("data").start()) {
            assertThat(hub.url()).isNotEmpty();
            Shell.Ran refused = shell.run("secrets", "forget", "token.secret", "--data", "data");

            assertThat(refused.status()).isEqualTo(1);
            assertThat(refused.err()).contains("PARLEY_ERR_DATA_IN_USE", "Hint: stop the hubs");
        }
    }

    @Test
    void aSecretOfADatabaseWithoutADirectoryIsForgotten() throws Exception {
        String url = PostgresqlServer.url();
        hub("first").database(url).start().close();

        Shell.Ran up = shell.run("up", "--data", "new", "--port", "0", "--database", url);
        for (String name : FILES) {
            Shell.Ran forgotten = shell.run("secrets", "forget", name, "--data", "new", "--database", url);
            assertThat(forgotten.out()).as(forgotten.err()).contains("Forgotten: true");
        }
        Shell.Ran again = shell.with("PARLEY_DATABASE", url).run("secrets", "forget", "token.secret", "--data", "new");

        assertThat(up.status()).isEqualTo(1);
        assertThat(up.err()).contains("missing, and the database belongs with one");
        assertThat(again.out()).as(again.err()).contains("Forgotten: false");
        assertThat(directory.resolve("new")).doesNotExist();
        hub("new").database(url).start().close();
        assertThat(content("new", "token.secret")).isNotEqualTo(content("first", "token.secret"));
    }

    @Test
    void aDatabaseThatIsNotOfAHubIsLeftAsItIs() throws Exception {
        String empty = PostgresqlServer.url();

        Shell.Ran none = shell.run("secrets", "forget", "token.secret", "--data", "new", "--database", empty);
        Shell.Ran both = shell.run("secrets", "forget", "token.secret", "--data", "data", "--database", empty);
        Shell.Ran silent = shell.run(
                "secrets",
                "forget",
                "token.secret",
                "--data",
                "new",
                "--database",
                "postgresql://me:s3cret@127.0.0.1:1/x");

        assertThat(none.out()).contains("Forgotten: false");
        assertThat(PostgresqlServer.rows(empty)).isEmpty();
        assertThat(both.status()).isEqualTo(2);
        assertThat(both.err()).contains("has a database of SQLite");
        assertThat(silent.status()).isEqualTo(1);
        assertThat(silent.err()).contains("PostgreSQL at 127.0.0.1:1/x").doesNotContain("s3cret");
    }

    @Test
    void aSecretIsNotForgottenBesideAHubOnPostgresql() throws Exception {
        String url = PostgresqlServer.url();
        try (Hub hub = hub("first").database(url).start()) {
            assertThat(hub.url()).isNotEmpty();

            Shell.Ran refused = shell.run("secrets", "forget", "token.secret", "--data", "new", "--database", url);

            assertThat(refused.status()).isEqualTo(1);
            assertThat(refused.err()).contains("PARLEY_ERR_DATA_IN_USE", "Hint: stop the hubs");
        }
    }

    @Test
    void aMissingFileOfADirectoryOfSecretsIsNamed() throws Exception {
        Path mount = Files.createDirectory(directory.resolve("mount"));
        for (String name : FILES) {
            Files.copy(directory.resolve("data").resolve(name), mount.resolve(name));
        }
        assertThat(shell.run("doctor", "--data", "data", "--secrets", "mount").out())
                .contains("token.secret: ok, present in " + mount);
        Files.delete(mount.resolve("token.secret"));

        for (Shell.Ran up : List.of(
                shell.run("up", "--data", "other", "--port", "0", "--secrets", "mount"),
                shell.with("PARLEY_SECRETS", "mount").run("up", "--data", "other", "--port", "0"))) {
            assertThat(up.status()).isEqualTo(1);
            assertThat(up.err())
                    .contains("secret file \"" + mount.resolve("token.secret") + "\": missing (expected: the file;");
        }
        assertThat(directory.resolve("other")).doesNotExist();
    }
}
