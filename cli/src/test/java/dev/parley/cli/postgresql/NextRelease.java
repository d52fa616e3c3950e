package dev.parley.cli.postgresql;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.hub.admin.Hubs;
import dev.parley.store.shared.Release;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * The release after this program: the same program behind an archive with another version, one level and one script more, and what runs
 * when the upgrade is finished.
 */
final class NextRelease {
    static final String VERSION = "99.0";
    static final int LEVEL = Release.newest() + 1;

    private static final String TABLES = "dev/parley/store/database/";
    private static final String PACKAGE = Hubs.class.getPackageName().replace('.', '/');

    private NextRelease() {}

    /** Returns the class path of the release, whose archive is written into a directory. */
    static String classPath(Path directory) throws IOException {
        Path archive = directory.resolve("next.jar");
        var manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, VERSION);
        int scripts = Release.current().tasks().scripts().size() + 1;
        Map<String, String> texts = Map.of(
                "release.properties",
                "level=" + LEVEL + "\npostgresql=" + scripts + "\n",
                "postgresql-" + scripts + ".sql",
                "ALTER TABLE task ADD COLUMN note TEXT;",
                "postgresql-" + scripts + "-finish.sql",
                "ALTER TABLE task RENAME COLUMN note TO remark;");
        try (var jar = new JarOutputStream(Files.newOutputStream(archive), manifest)) {
            for (Map.Entry<String, String> text : texts.entrySet()) {
                add(jar, TABLES + text.getKey(), text.getValue().getBytes(UTF_8));
            }
            addVersion(jar);
        }
        return archive + File.pathSeparator + System.getProperty("java.class.path");
    }

    /** Adds the package whose archive has the version of the program. */
    private static void addVersion(JarOutputStream jar) throws IOException {
        URL place = Hubs.class.getProtectionDomain().getCodeSource().getLocation();
        try {
            Path root = Path.of(place.toURI());
            if (Files.isDirectory(root)) {
                addClasses(jar, root.resolve(PACKAGE));
            } else {
                try (FileSystem archive = FileSystems.newFileSystem(root)) {
                    addClasses(jar, archive.getPath(PACKAGE));
                }
            }
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void addClasses(JarOutputStream jar, Path directory) throws IOException {
        List<Path> classes;
        try (Stream<Path> files = Files.list(directory)) {
            classes = files.filter(file -> file.toString().endsWith(".class")).toList();
        }
        for (Path each : classes) {
            add(jar, PACKAGE + "/" + each.getFileName(), Files.readAllBytes(each));
        }
    }

    private static void add(JarOutputStream jar, String name, byte[] content) throws IOException {
        jar.putNextEntry(new ZipEntry(name));
        jar.write(content);
        jar.closeEntry();
    }
}
