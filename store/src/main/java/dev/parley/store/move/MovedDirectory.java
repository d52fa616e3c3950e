package dev.parley.store.move;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.parley.protocol.support.OwnersOnly;
import dev.parley.store.database.Database;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
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

    private static final String ROOT = "root";

    /** Files of the directory itself, which the new one does not get. */
    private static final List<String> OWN = List.of(LOCK, URL);

    private MovedDirectory() {}

    /**
     * Refuses a directory that is neither empty nor the one of an earlier attempt.
     *
     * @throws NotOpenedException if it has other files, is a link or within the earlier one, has no parent, or root would write into the
     *     directory of another user, who can replace its files by links
     */
    public static void check(Path earlier, Path directory, String url) {
        Path parent = directory.toAbsolutePath().normalize().resolveSibling("."); // a file is refused below
        try {
            if (parent.toRealPath().startsWith(earlier.toRealPath())) {
                throw refused(directory, "it is in the earlier data directory");
            }
            requireNoLink(directory);
            String owner = Files.exists(directory) ? Files.getOwner(directory).getName() : ROOT;
            if (ROOT.equals(System.getProperty("user.name")) && !owner.equals(ROOT)) {
                throw refused(directory, "it belongs to " + owner + ": run the command as that user");
            }
            Path named = directory.resolve(URL);
            boolean isOwn = Files.isRegularFile(named, NOFOLLOW_LINKS)
                    && Files.readString(named).strip().equals(url);
            if (!isOwn && Files.exists(directory) && !isEmpty(directory)) {
                throw refused(directory, "it is not empty");
            }
        } catch (IOException failure) {
            throw NotOpenedException.directory(directory, failure);
        }
    }

    private static void requireNoLink(Path directory) {
        if (Files.isSymbolicLink(directory)) {
            throw refused(directory, "it is a symbolic link");
        }
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
     * Directories and files get the owners and permissions of the earlier ones, as far as this process may give them: a directory after
     * all that is in it, because its owner can replace its files by links.
     *
     * @throws NotOpenedException if a file cannot be read or written, or the directory is refused by {@link #check}
     */
    public static void make(Path earlier, Path directory, String url) {
        check(earlier, directory, url); // again: the rows may have taken hours
        Database.name(directory, url);
        try {
            own(earlier, directory.resolve(URL), false);
            copy(earlier, earlier, directory);
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

    private static void copy(Path earlier, Path from, Path to) throws IOException {
        requireNoLink(to);
        OwnersOnly.directory(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : (Iterable<Path>) files.filter(file -> !isOfHub(file))::iterator) {
                String name = file.getFileName().toString();
                Path target = to.resolve(name);
                if (Files.isDirectory(file)) {
                    if (Files.isSymbolicLink(file)) { // its files may be anywhere, and the link in a ring
                        Files.deleteIfExists(target);
                        Files.createSymbolicLink(target, place(earlier, from, file.toRealPath()));
                    } else {
                        copy(earlier, file, target);
                    }
                } else if (!from.equals(earlier) || !OWN.contains(name) && !name.startsWith(DataFiles.DATABASE)) {
                    boolean isDangling = !Files.exists(file); // and stays a link
                    CopyOption option = isDangling ? NOFOLLOW_LINKS : StandardCopyOption.COPY_ATTRIBUTES;
                    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING, option);
                    if (!isDangling) {
                        try (FileChannel copy = FileChannel.open(target, StandardOpenOption.READ, NOFOLLOW_LINKS)) {
                            copy.force(true);
                        }
                    }
                }
            }
        }
        own(from, to, true);
    }

    /** Returns the text of a link to a directory: if that is in the earlier data directory, the same place in the new one. */
    private static Path place(Path earlier, Path from, Path linked) throws IOException {
        boolean isWithin = linked.startsWith(earlier.toRealPath());
        Path place = isWithin ? from.toRealPath().relativize(linked) : linked;
        return place.toString().isEmpty() ? Path.of(".") : place;
    }

    /** Gives a file the owner and the group of another one, if the process may do that, and the permissions. Follows no link to it. */
    private static void own(Path other, Path file, boolean withPermissions) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class, NOFOLLOW_LINKS);
        if (view == null) {
            return; // a file system without groups
        }
        PosixFileAttributes given = Files.readAttributes(other, PosixFileAttributes.class);
        try {
            view.setOwner(given.owner());
            view.setGroup(given.group());
        } catch (FileSystemException forbidden) {
            // is said once, of the directory
        }
        if (withPermissions) {
            view.setPermissions(given.permissions());
        }
    }

    /** Whether a directory belongs to another hub, such as those of {@code parley run} in the home directory. */
    private static boolean isOfHub(Path directory) {
        return Files.exists(directory.resolve(LOCK));
    }
}
