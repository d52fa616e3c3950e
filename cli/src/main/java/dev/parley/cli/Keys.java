package dev.parley.cli;

import dev.parley.client.KeyManager;
import dev.parley.client.KeyStatus;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/** The keys for agents, from where the settings say. */
final class Keys {
    private Keys() {}

    /** @throws CliException if the settings contradict each other or miss something */
    static KeyManager of(Invocation call) {
        KeyManager.Builder keys =
                KeyManager.builder().environment(call.around().environment()).warnings(call.output()::warn);
        Path file = call.get(Setting.KEYS_FILE);
        if (file != null) {
            keys.file(call.around().path(file));
        }
        boolean keyring = call.settings().isOn(Setting.KEYRING);
        Path encrypted = call.get(Setting.ENCRYPTED_KEYS);
        if (keyring && encrypted != null) {
            throw CliException.usage("--keyring and --encrypted-keys: two keyrings", "leave one of them out");
        }
        if (keyring) {
            keys.keyring();
        } else if (encrypted != null) {
            encrypted(call, keys, call.around().path(encrypted));
        }
        return keys.build();
    }

    private static void encrypted(Invocation call, KeyManager.Builder keys, Path file) {
        Path keyFile = call.get(Setting.ENCRYPTED_KEYS_KEY);
        String passphrase = call.get(Setting.ENCRYPTED_KEYS_PASSPHRASE);
        if ((keyFile == null) == (passphrase == null)) {
            throw CliException.usage(
                    "--encrypted-keys needs one thing that opens it",
                    "give either --encrypted-keys-key or A2ACLI_ENCRYPTED_KEYS_PASSPHRASE");
        }
        if (keyFile != null) {
            keys.encryptedFile(file, call.around().path(keyFile));
        } else if (passphrase != null) {
            keys.encryptedFile(file, passphrase.toCharArray());
        }
    }

    /** Whether there is anything to be sent to an agent of this service. */
    static boolean has(KeyManager keys, String service) {
        return keys.apiKeyStatus(service) instanceof KeyStatus.Configured
                || keys.oauthStatus(service) instanceof KeyStatus.Configured;
    }

    /** The service that an agent at {@code url} is; empty for what is no http URL. */
    static Optional<String> serviceOf(String url) {
        try {
            return Optional.of(KeyManager.serviceId(URI.create(url)));
        } catch (IllegalArgumentException otherBinding) {
            return Optional.empty();
        }
    }
}
