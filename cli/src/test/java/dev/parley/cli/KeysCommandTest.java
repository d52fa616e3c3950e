package dev.parley.cli;

import static dev.parley.cli.ScriptedServer.task;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Feature row AV22: {@code parley keys}, and what agents get from it. */
@Timeout(60)
class KeysCommandTest {
    private static final String SECRET = "s3cret-key-value";
    private static final String CARD =
            ",\"securitySchemes\":{\"main\":{\"apiKeySecurityScheme\":{\"location\":\"header\","
                    + "\"name\":\"X-Api-Key\"}}},\"securityRequirements\":[{\"schemes\":{\"main\":{}}}]";

    @TempDir
    Path directory;

    private Shell shell() {
        return new Shell(directory);
    }

    private Shell sealed() {
        return shell().with("A2ACLI_ENCRYPTED_KEYS", "keys.sealed").with("A2ACLI_ENCRYPTED_KEYS_KEY", "keys.key");
    }

    @Test
    @DisplayName("AV22: keys get tells the source and the status, and at most four characters")
    void getTellsTheSourceAndTheStatusAndAtMostFourCharacters() throws IOException {
        Path file = Files.writeString(directory.resolve("keys.env"), "bank=" + SECRET + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));

        Shell.Ran plain = shell().run("keys", "get", "Bank", "--keys-file", "keys.env");
        Shell.Ran shown = shell().run("keys", "get", "bank", "--keys-file", "keys.env", "--show", "-o", "json");
        Shell.Ran other = shell().with("AGENTVAULT_KEY_SHOP", SECRET).run("keys", "get", "shop");

        assertThat(plain.status()).isZero();
        assertThat(plain.out()).isEqualTo("""
                Service: Bank
                API-Key: Configured (Source: FILE)
                OAuth-Client: Not Configured
                """);
        assertThat(shown.out())
                .isEqualTo("{\"service\":\"bank\",\"source\":\"file\",\"status\":\"Configured (Source: FILE)\","
                        + "\"oauthSource\":null,\"oauthStatus\":\"Not Configured\",\"start\":\"s3cr…\"}\n");
        assertThat(other.out()).contains("API-Key: Configured (Source: ENV)");
        assertThat(plain.err() + shown.err()).isEmpty();
    }

    @Test
    @DisplayName("AV22: keys set reads the secret from standard input; list and remove find it")
    void setReadsTheSecretFromStandardInputAndListAndRemoveFindIt() {
        Shell.Ran set = sealed().typing(SECRET + "\n").run("keys", "set", "bank");
        Shell.Ran client = sealed().typing(SECRET).run("keys", "set", "bank", "--oauth-client-id", "me");
        Shell.Ran listed = sealed().run("keys", "list");
        Shell.Ran removed = sealed().run("keys", "remove", "bank");
        Shell.Ran again = sealed().run("keys", "remove", "bank", "-o", "json");

        assertThat(set.out()).contains("API-Key: Configured (Source: ENCRYPTED-FILE)");
        assertThat(client.out()).contains("OAuth-Client: Configured (Source: ENCRYPTED-FILE)");
        assertThat(listed.out()).startsWith("Service: bank\n").endsWith("Total-Size: 1\n");
        assertThat(removed.out()).startsWith("Removed: yes\n").contains("API-Key: Not Configured");
        assertThat(again.out()).contains("\"removed\":false");
        assertThat(set.out() + client.out() + listed.out() + set.err() + listed.err())
                .doesNotContain(SECRET);
    }

    @Test
    void whatCannotBeKeptIsRefusedWithTheExitStatusesOfOtherCommands() {
        assertThat(shell().typing(SECRET).run("keys", "set", "bank"))
                .matches(ran -> ran.status() == 4 && ran.err().contains("no keyring is enabled"))
                .matches(ran -> !ran.err().contains(SECRET));
        assertThat(sealed().typing("").run("keys", "set", "bank").status()).isEqualTo(2);
        assertThat(sealed().run("keys", "get", "a b").status()).isEqualTo(2);
        assertThat(sealed().run("keys", "list", "--keyring").status()).isEqualTo(2);
        assertThat(shell().run("keys", "list", "--encrypted-keys", "f").err())
                .contains("A2ACLI_ENCRYPTED_KEYS_PASSPHRASE");
    }

    @Test
    @DisplayName("AV22: an agent gets the key of its host, or of the service that is named")
    void anAgentGetsTheKeyOfItsHostOrOfTheServiceThatIsNamed() {
        try (var agent = new ScriptedServer().on("GetTask", task("t1", "COMPLETED"))) {
            agent.showing(agent.card(true, CARD));
            String host = "localhost:" + agent.url().replaceFirst(".*:", "");
            assertThat(sealed().typing(SECRET).run("keys", "set", host).status())
                    .isZero();

            Shell.Ran byHost = sealed().run("task", "get", "t1", "-a", agent.url(), "--debug");
            Shell.Ran byName = shell().with("AGENTVAULT_KEY_BANK", "key-of-the-bank")
                    .run("task", "get", "t1", "-a", agent.url(), "--key-service", "bank", "--debug");

            assertThat(agent.asked().get(0).headers().getFirst("X-Api-Key")).isEqualTo(SECRET);
            assertThat(agent.asked().get(1).headers().getFirst("X-Api-Key")).isEqualTo("key-of-the-bank");
            assertThat(byHost.err() + byName.err()).doesNotContain(SECRET, "key-of-the-bank");
        }
    }

    @Test
    void anInvalidIdOfAServiceIsAnErrorOfUsage() {
        assertThat(shell().run("task", "get", "t1", "-a", "http://127.0.0.1:1", "--key-service", "a b"))
                .matches(ran -> ran.status() == 2)
                .extracting(Shell.Ran::err)
                .asString()
                .contains("invalid --key-service: a b (expected: the id of a service, such as bank)");
    }

    @Test
    @DisplayName("AV22: the service_identifier of a card chooses the key where --key-origin allows it")
    void aCardChoosesTheKeyWhereItsOriginIsAllowed() {
        try (var agent = new ScriptedServer()
                .on(
                        "tasks/get",
                        "{\"id\":\"t1\",\"state\":\"COMPLETED\",\"createdAt\":\"2026-01-01T00:00:00Z\","
                                + "\"updatedAt\":\"2026-01-01T00:00:00Z\",\"messages\":[],\"artifacts\":[]}")) {
            agent.showing(
                    "{\"schemaVersion\":\"1.0\",\"humanReadableId\":\"org/teller\",\"agentVersion\":\"1\",\"name\":\"teller\","
                            + "\"description\":\"Tells\",\"url\":\"" + agent.url()
                            + "/rpc\",\"provider\":{\"name\":\"Org\"},"
                            + "\"capabilities\":{\"a2aVersion\":\"0.2\"},"
                            + "\"authSchemes\":[{\"scheme\":\"apiKey\",\"service_identifier\":\"Bank\"}]}");
            Shell shell = shell().with("AGENTVAULT_KEY_BANK", SECRET);

            Shell.Ran plain = shell.run("task", "get", "t1", "-a", agent.url());
            Shell.Ran elsewhere =
                    shell.run("task", "get", "t1", "-a", agent.url(), "--key-origin", "bank=https://bank.example.com");
            Shell.Ran allowed =
                    shell.run("task", "get", "t1", "-a", agent.url(), "--key-origin", "bank=" + agent.url());
            Shell.Ran wrong = shell.run("task", "get", "t1", "-a", agent.url(), "--key-origin", "bank");

            assertThat(plain.status()).as(plain.err()).isZero();
            assertThat(elsewhere.status()).as(elsewhere.err()).isZero();
            assertThat(allowed.status()).as(allowed.err()).isZero();
            assertThat(agent.asked().get(0).headers()).doesNotContainKey("X-Api-Key");
            assertThat(agent.asked().get(1).headers()).doesNotContainKey("X-Api-Key");
            assertThat(agent.asked().get(2).headers().getFirst("X-Api-Key")).isEqualTo(SECRET);
            assertThat(wrong.status()).isEqualTo(2);
            assertThat(wrong.err()).contains("invalid --key-origin: bank");
        }
    }

    @Test
    void aCardFromElsewhereDoesNotGetKeysOfTheHostItNames() {
        try (var honest = new ScriptedServer().on("GetTask", task("t1", "COMPLETED"));
                var other = new ScriptedServer()) {
            other.showing(honest.card(true, CARD));
            String host = "LOCALHOST:" + honest.url().replaceFirst(".*:", "");

            Shell.Ran ran = shell().with("AGENTVAULT_KEY_" + host, SECRET).run("task", "get", "t1", "-a", other.url());

            assertThat(ran.status()).isEqualTo(1);
            assertThat(ran.err()).contains("--allow-origin");
            assertThat(honest.asked()).isEmpty();
        }
    }
}
