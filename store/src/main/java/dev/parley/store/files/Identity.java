package dev.parley.store.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The file that a path led to. A file that is open keeps its key, so no later file has the same one.
 *
 * @param key device and number of the file; null where files have none, as on Windows, which does not remove open files
 */
record Identity(Path path, @Nullable Object key) {
    /** Whether a path still leads to a file. */
    enum State {
        SAME,
        MISSING,
        REPLACED
    }

    static Identity of(Path path) throws IOException {
        return new Identity(path, attributes(path).fileKey());
    }

    private static BasicFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class);
    }

    /** @param size in bytes; 0 if the file is missing */
    record Look(State state, long size) {}

    Look look() throws IOException {
        try {
            BasicFileAttributes now = attributes(path);
            return new Look(Objects.equals(key, now.fileKey()) ? State.SAME : State.REPLACED, now.size());
        } catch (NoSuchFileException missing) {
            return new Look(State.MISSING, 0);
        }
    }

    State state() throws IOException {
        return look().state();
    }

    /** Name and key, as {@link #problem} reads them. */
    String line() {
        return path.getFileName() + " " + key + "\n";
    }

    /** Compares a file of {@code directory} with a {@link #line} about it; null if it is the same one. */
    static @Nullable String problem(Path directory, String line) throws IOException {
        String name = line.substring(0, line.indexOf(' '));
        try {
            boolean isSame = line.equals(of(directory.resolve(name)).line().strip());
            return isSame ? null : name + " was replaced";
        } catch (NoSuchFileException missing) {
            return name + " is missing";
        }
    }

    /** Name of the file and its directory, for operators. */
    String name() {
        return path.getFileName() + " in data directory \"" + path.getParent() + "\"";
    }
}
