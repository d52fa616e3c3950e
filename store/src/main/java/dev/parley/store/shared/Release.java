package dev.parley.store.shared;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.store.spi.ModuleTables;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Forms of rows and events that a release of the program knows. Hubs of several releases may work with one database: all write forms of a
 * level that each of them knows.
 *
 * @param level the newest form that it knows, from {@link #FIRST} on; a release raises it by 1 at most
 * @param tasks tables of tasks in PostgreSQL
 */
public record Release(int level, ModuleTables tasks) {
    /** The level of databases that name none. */
    public static final int FIRST = 1;

    /** Name of the tables of tasks in PostgreSQL among those of modules. */
    public static final String TASKS = "task";

    private static final int NEWEST = number("level");

    private static final String DIRECTORY = "/dev/parley/store/database/";

    /** Returns the level of this program. */
    public static int newest() {
        return NEWEST;
    }

    /** Returns the release that this program is of. */
    public static Release current() {
        int versions = number("postgresql");
        var finishing = new HashMap<Integer, String>();
        for (int version = 1; version <= versions; version++) {
            String name = "postgresql-" + version + "-finish.sql";
            if (Release.class.getResource(DIRECTORY + name) != null) {
                finishing.put(version, text(name));
            }
        }
        return new Release(
                newest(), new ModuleTables(TASKS, scripts("postgresql", versions), Set.of(), Map.copyOf(finishing)));
    }

    /** Reads the scripts {@code <name>-1.sql} to {@code <name>-<count>.sql} of the tables of tasks. */
    public static List<String> scripts(String name, int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(number -> text(name + "-" + number + ".sql"))
                .toList();
    }

    private static int number(String name) {
        var numbers = new Properties();
        try (InputStream in = open("release.properties")) {
            numbers.load(in);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return Integer.parseInt(requireNonNull(numbers.getProperty(name), name).strip());
    }

    private static String text(String name) {
        try (InputStream in = open(name)) {
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static InputStream open(String name) throws IOException {
        InputStream in = Release.class.getResourceAsStream(DIRECTORY + name);
        if (in == null) {
            throw new IOException(name + " is missing from the archive");
        }
        return in;
    }
}
