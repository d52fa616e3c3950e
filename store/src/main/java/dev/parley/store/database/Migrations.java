package dev.parley.store.database;

import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Numbered scripts that bring tables from the version of their database to that of this program. With hubs that share a database they run
 * while hubs of an older release work; what these could not read waits until an operator has finished the upgrade.
 */
final class Migrations {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Makes the table of the versions of all tables, except SQLite's tables of tasks, whose version the file itself has. */
    static final String MODULE_VERSIONS =
            "CREATE TABLE IF NOT EXISTS module_version (module VARCHAR(100) PRIMARY KEY, version INTEGER)";

    /** The oldest version whose programs can read the tables of a module, which may be older than its column. */
    private static final String READABLE =
            "SELECT coalesce(CAST(to_jsonb(module_version) ->> 'readable_from' AS INTEGER), version) FROM module_version"
                    + " WHERE module = ?";

    private static final String RAISE = "INSERT INTO epoch (kind, n) VALUES (?, ?)"
            + " ON CONFLICT (kind) DO UPDATE SET n = greatest(epoch.n, excluded.n)";

    /** Executes the statements of one script and records the version that the tables then have. */
    interface Step {
        void take(Stream<String> statements, int version) throws SQLException;
    }

    private Migrations() {}

    /**
     * Runs the scripts that the tables lack, in their order.
     *
     * @param tables the tables, and that they have a version, in words
     * @param readable the oldest version whose programs can read the tables
     * @throws StoreException if this is not one of them
     */
    static void run(String tables, int version, int readable, List<String> scripts, Step step) throws SQLException {
        if (version > scripts.size() && readable > scripts.size()) {
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

    static Stream<String> statements(String script) {
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
        int before = session.update("UPDATE module_version SET version = ? WHERE module = ?", version, module);
        return before == 1
                ? before
                : session.update("INSERT INTO module_version (module, version) VALUES (?, ?)", module, version);
    }

    /** Returns the oldest version whose programs can read the tables of a module in PostgreSQL; 0 for each. */
    static int readable(DatabaseSession session, String module) throws SQLException {
        return Math.toIntExact(session.number(READABLE, module));
    }

    /** Has all hubs write forms of a level from now on, in the transaction in the making. */
    static void raise(DatabaseSession session, Release release) throws SQLException {
        session.update(RAISE, Epoch.LEVEL.number(), release.level());
    }

    /** Returns the level of the forms that hubs write. */
    static int level(DatabaseSession session) throws SQLException {
        return Math.max(
                Release.FIRST,
                Math.toIntExact(session.number("SELECT n FROM epoch WHERE kind = ?", Epoch.LEVEL.number())));
    }

    /** Runs the statements of a script, each as the system of the database spells it. */
    static void execute(DatabaseSession session, UnaryOperator<String> spelled, List<String> statements)
            throws SQLException {
        for (String sql : statements) {
            session.once(spelled.apply(sql));
        }
    }

    /** Runs finishing statements of tables, after which programs of older versions cannot read them. */
    static void finish(
            DatabaseSession session,
            UnaryOperator<String> spelled,
            ModuleTables tables,
            List<String> statements,
            int version)
            throws SQLException {
        execute(session, spelled, statements);
        session.update("UPDATE module_version SET readable_from = ? WHERE module = ?", version, tables.module());
    }

    /** Runs all finishing statements of the tables of tasks that have not run yet, in the transaction in the making. */
    static void finishTasks(DatabaseSession session, Release release, UnaryOperator<String> spelled)
            throws SQLException {
        ModuleTables tasks = release.tasks();
        if (!tasks.finishing().isEmpty()) {
            int done = readable(session, tasks.module());
            for (var left :
                    new TreeMap<>(tasks.finishing()).tailMap(done, false).entrySet()) {
                finish(session, spelled, tasks, statements(left.getValue()).toList(), left.getKey());
            }
        }
        raise(session, release);
    }
}
