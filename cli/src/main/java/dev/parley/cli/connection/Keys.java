package dev.parley.cli.connection;

import dev.parley.cli.command.ClientFlags.KeyStore;
import dev.parley.cli.command.Invocation;
import dev.parley.client.keys.KeyManager;
import dev.parley.command.CommandException;
import java.nio.file.Path;

/** Keys for agents, from the stores of the settings. */
public final class Keys {
    private Keys() {}

    /** @throws CommandException if the settings contradict each other or miss something */
    public static KeyManager of(Invocation call) {
        KeyManager.Builder keys =
                KeyManager.builder().environment(call.around().environment()).warnings(call.output()::warn);
        KeyStore store = call.keyStore();
        if (store.file() != null) {
            keys.file(store.file());
        }
        Path encrypted = store.encrypted();
        if (store.keyring() && encrypted != null) {
            throw CommandException.usage("--keyring and --encrypted-keys: two keyrings", "leave one of them out");
        }
        if (store.keyring()) {
            keys.keyring();
        } else if (encrypted != null) {
            Path keyFile = store.encryptedKey();
            String passphrase = store.passphrase();
            if (keyFile != null && passphrase == null) {
                keys.encryptedFile(encrypted, keyFile);
            } else if (keyFile == null && passphrase != null) {
                keys.encryptedFile(encrypted, passphrase.toCharArray());
            } else {
                throw CommandException.usage(
                        "--encrypted-keys: not one key (expected: --encrypted-keys-key or a passphrase)",
                        "give either --encrypted-keys-key or A2ACLI_ENCRYPTED_KEYS_PASSPHRASE");
            }
        }
        return keys.build();
    }
}
