package dev.parley.client.keys;

import dev.parley.client.spi.ClientException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Store of secrets under two names, such as the keyring of an operating system. Calls may block until the user has
 * unlocked it.
 *
 * <p>Every method throws {@link ClientException} with {@link ClientException.Problem#KEYS} if the keyring cannot be
 * used.
 */
interface Keyring {
    Optional<String> read(String service, String user);

    void write(String service, String user, String secret);

    /** Returns false if there was none. */
    boolean remove(String service, String user);

    /** The services that it has secrets for, as far as that can be asked; keyrings of operating systems do not tell. */
    default Set<String> services() {
        return Set.of();
    }

    /** The keyring of the operating system. */
    static Keyring ofSystem() {
        String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        if (system.contains("mac")) {
            return new MacKeychain("/usr/bin/security", new Subprocess(Map.of()));
        }
        return system.contains("windows")
                ? new WindowsVault(new Subprocess(Map.of()))
                : new SecretTool(new Subprocess(Map.of()));
    }
}
