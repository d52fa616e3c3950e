package dev.parley.client.keys;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every keyring does. */
@Timeout(60)
abstract class KeyringContract {
    private static final String SERVICE = "agentvault:org/agent";
    private static final String EVERY_CHARACTER = everyCharacter();

    abstract Keyring keyring();

    private static String everyCharacter() {
        var text = new StringBuilder();
        for (char c = ' '; c <= '~'; c++) {
            text.append(c);
        }
        return text.toString();
    }

    @Test
    @DisplayName("AV22: a secret that was written is read back, replaced and removed")
    void aSecretThatWasWrittenIsReadBackReplacedAndRemoved() {
        Keyring keyring = keyring();
        assertThat(keyring.read(SERVICE, "u")).isEmpty();

        keyring.write(SERVICE, "u", "first");
        keyring.write(SERVICE, "u", EVERY_CHARACTER);

        assertThat(keyring.read(SERVICE, "u")).contains(EVERY_CHARACTER);
        assertThat(keyring.remove(SERVICE, "u")).isTrue();
        assertThat(keyring.read(SERVICE, "u")).isEmpty();
        assertThat(keyring.remove(SERVICE, "u")).isFalse();
    }

    @Test
    void twoUsersOfAServiceHaveASecretEach() {
        Keyring keyring = keyring();

        keyring.write("agentvault:oauth:x", "clientId", "id");
        keyring.write("agentvault:oauth:x", "clientSecret", "secret");

        assertThat(keyring.read("agentvault:oauth:x", "clientId")).contains("id");
        assertThat(keyring.read("agentvault:oauth:x", "clientSecret")).contains("secret");
        assertThat(keyring.remove("agentvault:oauth:x", "clientId")).isTrue();
        assertThat(keyring.read("agentvault:oauth:x", "clientSecret")).contains("secret");
    }
}
