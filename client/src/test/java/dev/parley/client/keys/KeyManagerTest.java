package dev.parley.client.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.keys.KeyStatus.Configured;
import dev.parley.client.keys.KeyStatus.NotConfigured;
import dev.parley.client.keys.KeyStatus.PartiallyConfigured;
import dev.parley.client.keys.KeyStatus.Source;
import dev.parley.client.spi.ClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Feature row AV22: which key is used, and where it comes from. */
class KeyManagerTest {
    private static final String SECRET = "s3cret-value";

    @TempDir
    Path directory;

    private final List<String> warnings = new ArrayList<>();
    private final MemoryKeyring keyring = new MemoryKeyring();

    private KeyManager.Builder keys() {
        return KeyManager.builder().environment(Map.of()).warnings(warnings::add);
    }

    private Path file(String name, String text) throws IOException {
        Path file = Files.writeString(directory.resolve(name), text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file;
    }

    @Test
    @DisplayName("AV22: a file comes before the environment, and that before the keyring")
    void aFileComesBeforeTheEnvironmentAndThatBeforeTheKeyring() throws IOException {
        var environment = Map.of("AGENTVAULT_KEY_ONE", "env-1", "AGENTVAULT_KEY_TWO", "env-2");
        keyring.write("agentvault:one", "one", "ring-1");
        keyring.write("agentvault:two", "two", "ring-2");
        keyring.write("agentvault:three", "three", "ring-3");

        KeyManager keys = keys().file(file("keys.env", "one=file-1\n"))
                .environment(environment)
                .keyring(keyring)
                .build();

        assertThat(keys.apiKey("one")).contains("file-1");
        assertThat(keys.apiKey("two")).contains("env-2");
        assertThat(keys.apiKey("three")).contains("ring-3");
        assertThat(keys.apiKey("four")).isEmpty();
        assertThat(keys.apiKeyStatus("one").text()).isEqualTo("Configured (Source: FILE)");
        assertThat(keys.apiKeyStatus("two").text()).isEqualTo("Configured (Source: ENV)");
        assertThat(keys.apiKeyStatus("three").text()).isEqualTo("Configured (Source: KEYRING)");
        assertThat(keys.apiKeyStatus("four").text()).isEqualTo("Not Configured");
        assertThat(keys.services()).containsExactly("one", "two");
    }

    @Test
    @DisplayName("AV22: .env files have API keys under bare names and OAuth clients under long ones")
    void envFilesHaveApiKeysUnderBareNamesAndClientsUnderLongOnes() throws IOException {
        KeyManager keys = keys().file(file(".env", """
                        # keys
                        export Weather="with space" # of the weather
                        org/agent=slashed
                        plain = bare # a remark
                        empty=
                        AGENTVAULT_OAUTH_Bank_CLIENT_ID=me
                        AGENTVAULT_OAUTH_Bank_CLIENT_SECRET='sec=ret'
                        AGENTVAULT_OAUTH_Half_CLIENT_ID=me
                        AGENTVAULT_OAUTH_Odd_TENANT=x
                        %s
                        """.formatted(SECRET))).build();

        assertThat(keys.services()).containsExactly("bank", "half", "org/agent", "plain", "weather");
        assertThat(keys.apiKey("WEATHER")).contains("with space");
        assertThat(keys.apiKey("org/agent")).contains("slashed");
        assertThat(keys.apiKey("plain")).contains("bare");
        assertThat(keys.apiKeyStatus("empty")).isEqualTo(new NotConfigured());
        assertThat(keys.oauthClient("bank")).contains(new OAuthClient("me", "sec=ret"));
        assertThat(keys.oauthStatus("half")).isEqualTo(new PartiallyConfigured(Source.FILE));
        assertThat(keys.oauthStatus("half").text()).isEqualTo("Partially Configured (Source: FILE)");
        assertThat(warnings)
                .hasSize(2)
                .anyMatch(warning -> warning.contains("AGENTVAULT_OAUTH_Odd_TENANT"))
                .anyMatch(warning -> warning.contains("line 10"))
                .noneMatch(warning -> warning.contains(SECRET));
    }

    @Test
    @DisplayName("AV22: .json files have a key, or an object with key and OAuth client, for each service")
    void jsonFilesHaveAKeyOrAnObjectForEachService() throws IOException {
        KeyManager keys = keys().file(file("keys.json", """
                        {"One":"k1","two":{"apiKey":"k2"},"three":{"oauth":{"clientId":"c","clientSecret":"s"}},
                         "four":{"apiKey":"","oauth":{"clientId":"c"}},"five":5}""")).build();

        assertThat(keys.apiKey("one")).contains("k1");
        assertThat(keys.apiKey("two")).contains("k2");
        assertThat(keys.oauthClient("three")).contains(new OAuthClient("c", "s"));
        assertThat(keys.apiKey("four")).isEmpty();
        assertThat(keys.oauthStatus("four")).isEqualTo(new PartiallyConfigured(Source.FILE));
        assertThat(warnings).singleElement().asString().contains("five is ignored");
    }

    @Test
    @DisplayName("AV22: the environment has OAuth clients too, each from one source as a whole")
    void anOAuthClientComesFromOneSourceAsAWhole() throws IOException {
        var environment = Map.of("AGENTVAULT_OAUTH_X_CLIENT_ID", "env-id", "AGENTVAULT_OAUTH_X_CLIENT_SECRET", "env-s");

        KeyManager keys = keys().file(file("half.json", "{\"x\":{\"oauth\":{\"clientId\":\"file-id\"}}}"))
                .environment(environment)
                .build();

        assertThat(keys.oauthClient("x")).contains(new OAuthClient("env-id", "env-s"));
        assertThat(keys.oauthStatus("x")).isEqualTo(new Configured(Source.ENVIRONMENT));
    }

    @Test
    void aMissingFileIsOnlyWorthAWarning() {
        KeyManager keys = keys().file(directory.resolve("none.env"))
                .environment(Map.of("AGENTVAULT_KEY_A", "1"))
                .build();

        assertThat(keys.apiKey("a")).contains("1");
        assertThat(warnings).singleElement().asString().contains("none.env: no such file");
    }

    @Test
    void aBrokenFileIsRefusedWithoutShowingWhatIsInIt() throws IOException {
        Path broken = file("keys.json", "{\"a\": " + SECRET + "}");

        assertThatThrownBy(() -> keys().file(broken).build())
                .isInstanceOfSatisfying(
                        ClientException.class, e -> assertThat(e.problem()).isEqualTo(ClientException.Problem.KEYS))
                .hasMessageContaining("keys.json is not a JSON object")
                .hasNoCause()
                .hasMessageNotContaining(SECRET);
    }

    @Test
    void aFileThatOthersMayReadIsWarnedOf() throws IOException {
        Path open = file("open.env", "a=1");
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));

        keys().file(open).build();

        assertThat(warnings).singleElement().asString().contains("chmod 600");
    }

    @Test
    @DisplayName("AV22: the keyring is asked when a key is needed, once")
    void theKeyringIsAskedWhenAKeyIsNeededAndOnlyOnce() {
        keyring.write("agentvault:oauth:x", "clientId", "id");
        keyring.write("agentvault:oauth:x", "clientSecret", "s");
        KeyManager keys = keys().keyring(keyring).build();
        assertThat(keyring.reads).isEmpty();

        for (int i = 0; i < 3; i++) {
            assertThat(keys.oauthClient("x")).contains(new OAuthClient("id", "s"));
            assertThat(keys.apiKey("x")).isEmpty();
        }

        assertThat(keyring.reads)
                .containsExactly("agentvault:oauth:x clientId", "agentvault:oauth:x clientSecret", "agentvault:x x");
    }

    @Test
    void whatIsSetIsReadBackAndWhatIsRemovedIsGone() {
        KeyManager keys = keys().keyring(keyring).build();
        assertThat(keys.apiKey("x")).isEmpty();

        keys.setApiKey("X", "one");
        keys.setOAuthClient("x", new OAuthClient("id", "s"));

        assertThat(keys.apiKey("x")).contains("one");
        assertThat(keys.oauthStatus("x")).isEqualTo(new Configured(Source.KEYRING));
        assertThat(keys.remove("x")).isTrue();
        assertThat(keys.apiKey("x")).isEmpty();
        assertThat(keys.oauthClient("x")).isEmpty();
        assertThat(keys.remove("x")).isFalse();
    }

    @Test
    @DisplayName("AV22: writing to a keyring that is off is an error, and so is an empty value")
    void writingToAKeyringThatIsOffIsAnErrorAndSoIsAnEmptyValue() {
        KeyManager off = keys().build();
        KeyManager on = keys().keyring(keyring).build();

        assertThatThrownBy(() -> off.setApiKey("x", "1"))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("no keyring is enabled");
        assertThatThrownBy(() -> off.remove("x")).isInstanceOf(ClientException.class);
        assertThatThrownBy(() -> on.setApiKey("x", "")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> on.setApiKey("x", SECRET + "\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining(SECRET);
        assertThatThrownBy(() -> on.setApiKey("a b", "1")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void noTextShowsASecret() throws IOException {
        KeyManager keys = keys().file(file("k.env", "a=" + SECRET)).build();

        assertThat(keys.toString() + new OAuthClient("id", SECRET) + new ServiceKeys(SECRET, SECRET, SECRET))
                .contains("[a]")
                .doesNotContain(SECRET);
    }

    @Test
    void anAgentWithoutAnIdHasItsHostForOne() {
        assertThat(KeyManager.serviceId("https://Agents.example.com/a/b")).contains("agents.example.com");
        assertThat(KeyManager.serviceId("http://127.0.0.1:7420/agents/x")).contains("localhost:7420");
        assertThat(KeyManager.serviceId("agents.example.com:50051")).isEmpty();
        assertThat(KeyManager.serviceId("a b")).isEmpty();
    }
}
