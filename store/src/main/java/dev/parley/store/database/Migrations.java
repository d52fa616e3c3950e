package dev.parley.store.database;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Numbered scripts that bring tables from the version of their database to that of this program. */
final class Migrations {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Makes the table of the versions of all tables, except SQLite's tables of tasks, whose version the file itself has. */
    static final String MODULE_VERSIONS =
            "CREATE TABLE IF NOT EXISTS module_version (module VARCHAR(100) PRIMARY KEY, version INTEGER)";

    /** Executes the statements of one script and records the version that the tables then have. */
    interface Step {
        void take(Stream<String> statements, int version) throws SQLException;
    }

    private Migrations() {}

    /**
     * Runs the scripts that the tables lack, in their order.
     *
     * @param tables the tables, and that they have a version, in words
     * @throws StoreException if the tables are newer than the scripts
     */
    static void run(String tables, int version, List<String> scripts, Step step) throws SQLException {
        if (version > scripts.size()) {
            throw new StoreException(
                    tables + " " + version + " (expected: at most " + scripts.size() + "); written by a newer Parley");
        }
        if (version > 0 && version < scripts.size()) {
            LOG.log(
                    Level.INFO,
                    tables + " " + version + " and are brought up to " + scripts.size()
                            + "; tables that are copied need their space twice meanwhile");
        }
        for (int next = version; next < scripts.size(); next++) {
            step.take(statements(scripts.get(next)), next + 1);
        }
    }

    /** Reads the scripts {@code <name>-1.sql} to {@code <name>-<count>.sql}. */
    static List<String> scripts(String name, int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(number -> script(name + "-" + number + ".sql"))
                .toList();
    }

    private static String script(String name) {
        try (InputStream in = Migrations.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException(name + " is missing from the archive");
            }
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Stream<String> statements(String script) {
        return Stream.of(script.replaceAll("--[^\n]*", "").split(";", -1))
                .map(String::strip)
                .filter(sql -> !sql.isEmpty());
    }

    static DatabaseSession makeVersions(DatabaseSession session) throws SQLException {
        session.once(MODULE_VERSIONS);
        return session;
    }

    /** Returns the version of the tables of a module; 0 for none. */
    static int version(DatabaseSession session, String module) throws SQLException {
        return Math.toIntExact(session.number("SELECT version FROM module_version WHERE module = ?", module));
    }

    static int setVersion(DatabaseSession session, String module, int version) throws SQLException {
        session.update("DELETE FROM module_version WHERE module = ?", module);
        return session.update("INSERT INTO module_version (module, version) VALUES (?, ?)", module, version);
    }
}
