package dev.parley.client.keys;

import dev.parley.client.keys.Subprocess.Ended;
import java.util.List;
import java.util.Optional;

/**
 * The Secret Service of Linux desktops, through {@code secret-tool} of libsecret: a client of D-Bus in Java would be a
 * larger dependency than the rest of this module. The names of the attributes are those of Python's keyring library, so
 * that either finds what the other wrote.
 */
record SecretTool(Subprocess child) implements Keyring {
    @Override
    public Optional<String> read(String service, String user) {
        Ended ended = run("lookup", service, user, "");
        // Only the exit status tells that there is no secret.
        if (ended.status() != 0 && !ended.complaint().isEmpty()) {
            throw Subprocess.failure("be read", ended);
        }
        return ended.status() == 0 ? Optional.of(ended.out()) : Optional.empty();
    }

    @Override
    public void write(String service, String user, String secret) {
        Ended ended = child.run(
                List.of(
                        "secret-tool",
                        "store",
                        "--label=" + service,
                        "service",
                        service,
                        "username",
                        user,
                        "application",
                        "Parley"),
                secret);
        if (ended.status() != 0) {
            throw Subprocess.failure("be written", ended);
        }
    }

    @Override
    public boolean remove(String service, String user) {
        Ended ended = run("clear", service, user, "");
        if (ended.status() != 0 && !ended.complaint().isEmpty()) {
            throw Subprocess.failure("be changed", ended);
        }
        return ended.status() == 0;
    }

    private Ended run(String verb, String service, String user, String input) {
        return child.run(List.of("secret-tool", verb, "service", service, "username", user), input);
    }
}
