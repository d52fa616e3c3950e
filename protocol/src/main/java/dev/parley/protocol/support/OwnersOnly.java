package dev.parley.protocol.support;

import static java.nio.file.attribute.PosixFilePermission.GROUP_READ;
import static java.nio.file.attribute.PosixFilePermission.OTHERS_READ;
import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collections;
import java.util.Set;

/**
 * Creates files and directories that only their owner can read, on file systems with owners. Existing ones keep their
 * permissions, which may be deliberate.
 */
public final class OwnersOnly {
    private OwnersOnly() {}

    /** Makes a directory, and those that it is in, unless it is there. */
    public static void directory(Path directory) throws IOException {
        Files.createDirectories(directory, permissions(directory, "rwx------"));
    }

    /** True if only the owner of a file can read or write it, or the file system has no such permissions. */
    public static boolean is(Path file) throws IOException {
        return !file.getFileSystem().supportedFileAttributeViews().contains("posix")
                || PosixFilePermissions.toString(Files.getPosixFilePermissions(file))
                        .endsWith("------");
    }

    /** True if others than its owner may read the file; false where the platform cannot say. */
    public static boolean isReadByOthers(Path file) {
        try {
            return !Collections.disjoint(Files.getPosixFilePermissions(file), Set.of(GROUP_READ, OTHERS_READ));
        } catch (IOException | UnsupportedOperationException unknown) {
            return false;
        }
    }

    /** Makes an empty file, unless it is there. */
    public static void file(Path file) throws IOException {
        if (Files.notExists(file)) {
            Files.createFile(file, permissions(file, "rw-------"));
        }
    }

    /**
     * Makes a file with this content as a whole, or not at all: after a crash or on a full disk there is no part of it.
     *
     * @throws java.nio.file.FileAlreadyExistsException if it is there; it is as it was
     */
    public static void create(Path file, byte[] content) throws IOException {
        create(
                file,
                content,
                written -> Files.createLink(file, written)); // never replaces what another process has made
    }

    static void create(Path file, byte[] content, Naming link) throws IOException {
        write(file, content, written -> link(written, file, link));
    }

    /** Makes a file with this content, or replaces the one that is there, as a whole: after a crash it has the old content or the new. */
    public static void replace(Path file, byte[] content) throws IOException {
        write(file, content, written -> Files.move(written, file, StandardCopyOption.ATOMIC_MOVE));
    }

    /**
     * Gives a file that was written beside it its name, once its content is on the disk.
     *
     * @param isReplacing whether it replaces a file of that name
     * @throws java.nio.file.FileAlreadyExistsException if it replaces none and there is one, which is as it was
     */
    public static void rename(Path written, Path file, boolean isReplacing) throws IOException {
        try (FileChannel content = FileChannel.open(written, StandardOpenOption.WRITE)) {
            content.force(true);
        }
        if (isReplacing) {
            Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
        } else {
            link(written, file, link -> Files.createLink(file, link));
            Files.deleteIfExists(written);
        }
        force(requireNonNull(file.toAbsolutePath().getParent(), "a file has a directory"));
    }

    private static void link(Path written, Path file, Naming link) throws IOException {
        try {
            link.name(written);
        } catch (UnsupportedOperationException | FileSystemException noLinks) { // or the file exists
            Files.move(written, file); // refuses it, unless it is made in the same moment
        }
    }

    interface Naming {
        void name(Path written) throws IOException;
    }

    private static void write(Path file, byte[] content, Naming naming) throws IOException {
        Path directory = requireNonNull(file.toAbsolutePath().getParent(), "a file has a directory");
        Path written =
                Files.createTempFile(directory, "." + file.getFileName(), ".new", permissions(file, "rw-------"));
        try {
            try (FileChannel out = FileChannel.open(written, StandardOpenOption.WRITE)) {
                for (ByteBuffer left = ByteBuffer.wrap(content); left.hasRemaining(); ) {
                    out.write(left);
                }
                out.force(true);
            }
            naming.name(written);
            force(directory);
        } finally {
            Files.deleteIfExists(written);
        }
    }

    /** Writes the names in a directory to the disk, where the system can. */
    private static void force(Path directory) throws IOException {
        try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
            names.force(true);
        } catch (AccessDeniedException windows) {
            // opens no directories, and writes their names itself
        }
    }

    private static FileAttribute<?>[] permissions(Path path, String permissions) {
        var owners = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
        boolean hasOwners = path.getFileSystem().supportedFileAttributeViews().contains("posix");
        return hasOwners ? new FileAttribute<?>[] {owners} : new FileAttribute<?>[0];
    }
}
