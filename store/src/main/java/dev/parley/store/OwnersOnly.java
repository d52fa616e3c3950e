package dev.parley.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Makes files and directories that nobody but their owner can read, where the file system knows whose they are. What is
 * there already keeps its permissions: somebody may have given them on purpose.
 */
public final class OwnersOnly {
    private OwnersOnly() {}

    /** Makes a directory, and those that it is in, unless it is there. */
    public static void directory(Path directory) throws IOException {
        Files.createDirectories(directory, permissions(directory, "rwx------"));
    }

    /** Makes an empty file, unless it is there. */
    public static void file(Path file) throws IOException {
        if (Files.notExists(file)) {
            Files.createFile(file, permissions(file, "rw-------"));
        }
    }

    private static FileAttribute<?>[] permissions(Path path, String permissions) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : new FileAttribute<?>[0];
    }
}
