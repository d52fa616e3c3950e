package dev.parley.client.keys;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.keys.Subprocess.Ended;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * The Keychain of macOS, through {@code security}.
 *
 * @param program where that is
 */
record MacKeychain(String program, Subprocess child) implements Keyring {
    /** errSecItemNotFound, as the program's exit status. */
    private static final int NOT_FOUND = 44;

    @Override
    public Optional<String> read(String service, String user) {
        Ended ended = child.run(List.of(program, "find-generic-password", "-s", service, "-a", user, "-w"), "");
        if (ended.status() == NOT_FOUND) {
            return Optional.empty();
        }
        if (ended.status() != 0) {
            throw Subprocess.failure("be read", ended);
        }
        return Optional.of(ended.out().replaceFirst("\r?\n$", ""));
    }

    @Override
    public void write(String service, String user, String secret) {
        // As a command on standard input: as an argument, everybody could read it. In hexadecimal, nothing needs
        // quotes.
        String command = "add-generic-password -U -s \"" + service + "\" -a \"" + user + "\" -X "
                + HexFormat.of().formatHex(secret.getBytes(UTF_8)) + "\n";
        Ended ended = child.run(List.of(program, "-i"), command);
        // It ends with status 0 also if its commands fail.
        if (ended.status() != 0 || !read(service, user).equals(Optional.of(secret))) {
            throw Subprocess.failure("be written", ended);
        }
    }

    @Override
    public boolean remove(String service, String user) {
        Ended ended = child.run(List.of(program, "delete-generic-password", "-s", service, "-a", user), "");
        if (ended.status() != 0 && ended.status() != NOT_FOUND) {
            throw Subprocess.failure("be changed", ended);
        }
        return ended.status() == 0;
    }
}
