package dev.parley.client.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.keys.EncryptedFile.KeyFile;
import dev.parley.client.keys.EncryptedFile.Passphrase;
import dev.parley.client.spi.ClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file that stands in for a keyring. */
@Tag("heavy")
class EncryptedFileTest {
    private static final String SECRET = "s3cret-value";

    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve("made/keys.sealed");
    }

    private EncryptedFile withPassphrase(String passphrase) {
        return new EncryptedFile(file(), new Passphrase(passphrase.toCharArray()));
    }

    private EncryptedFile withKeyFile() {
        return new EncryptedFile(file(), new KeyFile(directory.resolve("key")));
    }

    @Nested
    class OpenedByAPassphrase extends KeyringContract {
        @Override
        Keyring keyring() {
            return withPassphrase("correct horse");
        }
    }

    @Nested
    class OpenedByAKeyFile extends KeyringContract {
        @Override
        Keyring keyring() {
            return withKeyFile();
        }
    }

    @Test
    @DisplayName("AV22: only its owner may read the encrypted file, and nothing in it can be read")
    void onlyItsOwnerMayReadTheFileAndNothingInItCanBeRead() throws IOException {
        withKeyFile().write("agentvault:bank", "bank", SECRET);

        assertThat(Files.readString(file())).doesNotContain(SECRET, "bank");
        for (Path made : new Path[] {file(), directory.resolve("key")}) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
                    .isEqualTo("rw-------");
        }
        try (var left = Files.list(file().getParent())) {
            assertThat(left.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder("keys.sealed", "keys.sealed.lock");
        }
    }

    @Test
    void anotherPassphraseDoesNotOpenItNorReplaceIt() throws IOException {
        withPassphrase("right").write("s", "u", SECRET);
        byte[] before = Files.readAllBytes(file());

        for (Keyring wrong : new Keyring[] {withPassphrase("wrong"), withKeyFile()}) {
            assertThatThrownBy(() -> wrong.read("s", "u")).isInstanceOf(ClientException.class);
            assertThatThrownBy(() -> wrong.write("s", "v", SECRET)).isInstanceOf(ClientException.class);
        }

        assertThat(file()).hasBinaryContent(before);
        assertThat(withPassphrase("right").read("s", "u")).contains(SECRET);
    }

    @Test
    void aChangeIsNoticedWhereverItIs() throws IOException {
        withKeyFile().write("s", "u", SECRET);
        String good = Files.readString(file());

        for (String name : new String[] {"data", "nonce", "salt"}) {
            int at = good.indexOf("\"" + name + "\":\"") + name.length() + 5;
            char other = good.charAt(at) == 'A' ? 'B' : 'A';
            Files.writeString(file(), good.substring(0, at) + other + good.substring(at + 1));
            assertThatThrownBy(() -> withKeyFile().read("s", "u"))
                    .as(name)
                    .isInstanceOf(ClientException.class)
                    .hasMessageContaining("cannot be opened");
        }
        Files.writeString(file(), good.replace("300000", "300001"));
        assertThatThrownBy(() -> withKeyFile().read("s", "u")).hasMessageContaining("cannot be opened");
        Files.writeString(file(), good.replace("300000", "1000"));
        assertThatThrownBy(() -> withKeyFile().read("s", "u")).hasMessageContaining("is not an encrypted file of keys");
    }

    @Test
    void aKeyFileThatOthersMayReadIsRefused() throws IOException {
        withKeyFile().write("s", "u", SECRET);
        Files.setPosixFilePermissions(directory.resolve("key"), PosixFilePermissions.fromString("rw-r-----"));

        assertThatThrownBy(() -> withKeyFile().read("s", "u"))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("chmod 600");
    }

    @Test
    void aKeyFileThatIsGoneIsNotReplacedByAnother() throws IOException {
        withKeyFile().write("s", "u", SECRET);
        Files.delete(directory.resolve("key"));

        assertThatThrownBy(() -> withKeyFile().write("s", "v", SECRET))
                .isInstanceOf(ClientException.class)
                .hasMessageContaining("cannot be opened");
        assertThat(directory.resolve("key")).doesNotExist();
    }

    @Test
    void twoWritersLoseNothing() throws Exception {
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 20; i++) {
                String name = "s" + i;
                var ignored = pool.submit(() -> withKeyFile().write(name, "u", SECRET));
            }
        }

        assertThat(withKeyFile().services()).hasSize(20);
    }

    @Test
    @DisplayName("AV22: the encrypted file is used only if it is chosen, and has a name of its own as a source")
    void theKeyManagerTellsThatAKeyIsFromTheEncryptedFile() {
        KeyManager keys = KeyManager.builder()
                .environment(Map.of())
                .encryptedFile(file(), directory.resolve("key"))
                .build();

        keys.setApiKey("bank", SECRET);
        keys.setOAuthClient("shop", new OAuthClient("id", SECRET));

        assertThat(keys.services()).containsExactly("bank", "shop");
        assertThat(keys.apiKeyStatus("bank").text()).isEqualTo("Configured (Source: ENCRYPTED-FILE)");
        assertThat(keys.apiKey("bank")).contains(SECRET);
    }
}
