package dev.parley.hub.extensions;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Directory that is removed when the hub closes. */
public final class TemporaryDirectory {
    private TemporaryDirectory() {}

    public static Path create() {
        try {
            return Files.createTempDirectory("parley-");
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot make a temporary directory", failure);
        }
    }

    /** Removes the directory, if it is still there. */
    public static void remove(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(one);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot remove " + directory, failure);
        }
    }
}
