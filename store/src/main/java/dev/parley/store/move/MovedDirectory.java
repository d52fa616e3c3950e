package dev.parley.store.move;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.database.Database;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.List;
import java.util.stream.Stream;

/**
 * The data directory of a hub whose database was moved: it names the new database, and has the secrets and all other files of the earlier
 * directory.
 */
public final class MovedDirectory {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    private static final String LOCK = "parley.lock";

    private static final String URL = "database.url";

    /** Files of the directory itself, which the new one does not get. */
    private static final List<String> OWN = List.of(LOCK, URL);

    private MovedDirectory() {}

    /**
     * Refuses a directory that is neither empty nor the one of an earlier attempt.
     *
     * @throws NotOpenedException if it has other files or is within the earlier one
     */
    public static void check(Path earlier, Path directory, String url) {
        if (absolute(directory).startsWith(absolute(earlier))) {
            throw refused(directory, "it is in the earlier data directory");
        }
        try {
            Path named = directory.resolve(URL);
            boolean isOwn =
                    Files.exists(named) && Files.readString(named).strip().equals(url);
            if (!isOwn && Files.exists(directory) && !isEmpty(directory)) {
                throw refused(directory, "it is not empty");
            }
        } catch (IOException failure) {
            throw NotOpenedException.directory(directory, failure);
        }
    }

    private static Path absolute(Path directory) {
        return directory.toAbsolutePath().normalize();
    }

    private static boolean isEmpty(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.findAny().isEmpty();
        }
    }

    private static NotOpenedException refused(Path directory, String problem) {
        return new NotOpenedException(
                Reason.SETTING, "directory " + directory + ": " + problem + " (expected: a new directory)");
    }

    /**
     * Makes the directory, or what an earlier attempt lacks of it. The URL comes first: a directory with it is known as an attempt.
     * Directories and files get the owners and permissions of the earlier ones, as far as this process may give them.
     *
     * @throws NotOpenedException if a file cannot be read or written
     */
    public static void make(Path earlier, Path directory, String url) {
        Database.name(directory, url);
        try {
            copy(earlier, directory, true);
            own(earlier, directory.resolve(URL));
            if (!Files.getOwner(directory).equals(Files.getOwner(earlier))) {
                LOG.log(
                        Level.WARNING,
                        "{0} has another owner than {1}: give it to the user of the hub, by chown -R",
                        directory,
                        earlier);
            }
        } catch (IOException failure) {
            throw NotOpenedException.directory(directory, failure);
        }
    }

    private static void copy(Path from, Path to, boolean isTop) throws IOException {
        OwnersOnly.directory(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = file.getFileName().toString();
                Path target = to.resolve(name);
                if (Files.isDirectory(file)) {
                    if (isOfHub(file)) {
                        continue;
                    }
                    if (Files.isSymbolicLink(file)) { // its files may be anywhere, and the link in a ring
                        Files.deleteIfExists(target);
                        Files.createSymbolicLink(target, file.toRealPath());
                    } else {
                        copy(file, target, false);
                    }
                } else if (!isTop || !OWN.contains(name) && !name.startsWith(DataFiles.DATABASE)) {
                    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
                    try (FileChannel copy = FileChannel.open(target, StandardOpenOption.READ)) {
                        copy.force(true);
                    }
                }
            }
        }
        if (own(from, to)) {
            Files.setPosixFilePermissions(to, Files.getPosixFilePermissions(from));
        }
    }

    /** Gives a file the owner and the group of another one, if the process may do that. False on file systems without groups. */
    private static boolean own(Path other, Path file) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        if (view != null) {
            PosixFileAttributes given = Files.readAttributes(other, PosixFileAttributes.class);
            try {
                view.setOwner(given.owner());
                view.setGroup(given.group());
            } catch (FileSystemException forbidden) {
                // is said once, of the directory
            }
        }
        return view != null;
    }

    /** Whether a directory belongs to another hub, such as those of {@code parley run} in the home directory. */
    private static boolean isOfHub(Path directory) {
        return Files.exists(directory.resolve(LOCK));
    }
}
