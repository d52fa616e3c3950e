package dev.parley.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Files of the page by their paths: its own, and those of the {@linkplain Library libraries} below {@value #LIBRARIES}. Safe for any
 * thread.
 */
final class ConsoleFiles {
    static final String LIBRARIES = "lib/";
    /** Documents of the repository, which the build puts beside the page. */
    static final String DOCUMENTS = "docs/";

    private static final String OWN = "ui";
    private static final Set<String> NO_NAMES = Set.of("", ".", "..");

    private final NavigableSet<String> own;
    private final @Nullable Path directory;
    private final Map<String, Library> libraries = new LinkedHashMap<>();

    private ConsoleFiles(NavigableSet<String> own, @Nullable Path directory) {
        this.own = own;
        this.directory = directory;
        Library.ALL.forEach(each -> libraries.put(each.artifact(), each));
    }

    /** The files of this module. */
    static ConsoleFiles packaged() {
        try {
            return new ConsoleFiles(listed(), null);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** The files of a directory instead, with the documents of this module. */
    static ConsoleFiles in(Path directory) {
        NavigableSet<String> own = below(directory);
        packaged().own().stream().filter(path -> path.startsWith(DOCUMENTS)).forEach(own::add);
        return new ConsoleFiles(own, directory);
    }

    /** Paths of the files that belong to no library. */
    NavigableSet<String> own() {
        return own;
    }

    /** Returns a file; null if there is none. */
    byte @Nullable [] read(String path) {
        if (Stream.of(path.split("/", -1)).anyMatch(NO_NAMES::contains)) {
            return null; // a file has one path, by which it is remembered
        }
        try {
            if (path.startsWith(LIBRARIES)) {
                return ofLibrary(path.substring(LIBRARIES.length()));
            }
            if (!own.contains(path)) {
                return null;
            }
            return directory == null || path.startsWith(DOCUMENTS)
                    ? bytes(ConsoleFiles.class.getResourceAsStream(OWN + "/" + path))
                    : Files.readAllBytes(directory.resolve(path));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private byte @Nullable [] ofLibrary(String path) throws IOException {
        int end = path.indexOf('/');
        Library library = libraries.get(end < 0 ? path : path.substring(0, end));
        return library == null || path.endsWith("/") ? null : bytes(library.open(path.substring(end + 1)));
    }

    private static byte @Nullable [] bytes(@Nullable InputStream in) throws IOException {
        try (in) {
            return in == null ? null : in.readAllBytes();
        }
    }

    /** Hash of the own files, their paths, and the versions of the libraries. */
    String hash() {
        var all = new ByteArrayOutputStream();
        for (String path : own) {
            all.writeBytes((path + "\n").getBytes(UTF_8));
            byte[] file = read(path);
            if (file != null) {
                all.writeBytes(file);
            }
        }
        libraries.values().forEach(each -> all.writeBytes((each.artifact() + each.version()).getBytes(UTF_8)));
        return Asset.hash(all.toByteArray());
    }

    /** Resources of this module cannot be listed by name: their jar, or their directory, can. */
    private static NavigableSet<String> listed() throws IOException {
        URL root = ConsoleFiles.class.getResource(OWN + "/app.js");
        if (root == null) {
            throw new IllegalStateException("no resource " + OWN + "/app.js");
        }
        URLConnection connection = root.openConnection();
        if (!(connection instanceof JarURLConnection jar)) {
            Path app = Path.of(URI.create(root.toString()));
            return below(app.resolveSibling(""));
        }
        jar.setUseCaches(false);
        String name = jar.getEntryName();
        String directory = name.substring(0, name.lastIndexOf('/') + 1);
        try (var file = jar.getJarFile()) {
            return new TreeSet<>(file.stream()
                    .map(entry -> entry.getName())
                    .filter(entry -> entry.startsWith(directory) && !entry.endsWith("/"))
                    .map(entry -> entry.substring(directory.length()))
                    .toList());
        }
    }

    private static NavigableSet<String> below(Path directory) {
        List<String> paths = new ArrayList<>();
        try (Stream<Path> all = Files.walk(directory)) {
            all.filter(Files::isRegularFile)
                    .forEach(file ->
                            paths.add(directory.relativize(file).toString().replace('\\', '/')));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return new TreeSet<>(paths);
    }
}
