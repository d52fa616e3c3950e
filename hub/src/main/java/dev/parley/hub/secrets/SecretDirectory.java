package dev.parley.hub.secrets;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Directory with the secrets of a hub: its data directory, in which missing ones are made, or one that is only read, such as a mounted
 * secret of Kubernetes.
 *
 * @param isOwn whether it is the data directory
 */
public record SecretDirectory(Path path, boolean isOwn) {
    /** The data directory of a hub. */
    public static SecretDirectory data(Path path) {
        return new SecretDirectory(path, true);
    }

    /** A directory of the setting {@code secrets}. */
    public static SecretDirectory mounted(Path path) {
        return new SecretDirectory(path, false);
    }

    public Path file(String name) {
        return path.resolve(name);
    }

    /**
     * Reads a secret; empty if its file is missing.
     *
     * @throws NotOpenedException if it cannot be read
     * @throws dev.parley.store.spi.StoreException if it is too short
     */
    public Optional<String> find(String name) {
        try {
            return Files.notExists(file(name)) ? Optional.empty() : Optional.of(SecretFile.read(file(name)));
        } catch (IOException failure) {
            throw isOwn
                    ? NotOpenedException.directory(path, failure)
                    : new NotOpenedException(
                            Reason.SECRETS,
                            "secret file \"" + file(name) + "\": " + failure
                                    + " (expected: a file that this user may read)",
                            failure);
        }
    }

    /** Reads a secret; one that is missing is made in a data directory, and refused in another one. */
    public String get(String name, Supplier<String> made) {
        Optional<String> secret = find(name);
        if (secret.isPresent() || !isOwn) {
            return secret.orElseThrow(() -> missing(name));
        }
        try {
            OwnersOnly.directory(path);
            SecretFile.create(file(name), made.get());
            return SecretFile.read(file(name));
        } catch (IOException failure) {
            throw NotOpenedException.directory(path, failure);
        }
    }

    /** @throws NotOpenedException if one of the files is missing in a directory that is only read */
    public void require(List<String> names) {
        for (String name : names) {
            if (!isOwn && find(name).isEmpty()) {
                throw missing(name);
            }
        }
    }

    private NotOpenedException missing(String name) {
        return new NotOpenedException(
                Reason.SECRETS,
                "secret file \"" + file(name) + "\": missing (expected: the file; nothing is made in the directory of"
                        + " --secrets, parley secrets export has the secrets of another hub)");
    }
}
