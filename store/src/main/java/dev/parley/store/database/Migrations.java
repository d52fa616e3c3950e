package dev.parley.store.database;

import dev.parley.protocol.retry.Backoff;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
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

    private static final String OLDER =
            "SELECT name || ' (number ' || hub_no || ', version ' || version || ') understands level '"
                    + " || level FROM hub WHERE ended_at IS NULL AND level < ? ORDER BY level, hub_no LIMIT 1";

    /** Pauses before a table is locked again that others use: they work meanwhile. */
    private static final Backoff LOCKS = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(2));

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
        int before = session.update("UPDATE module_version SET version = ? WHERE module = ?", version, module);
        return before == 1
                ? before
                : session.update("INSERT INTO module_version (module, version) VALUES (?, ?)", module, version);
    }

    /** Returns the oldest version whose programs can read the tables of a module in PostgreSQL; 0 for each. */
    static int readable(DatabaseSession session, String module) throws SQLException {
        return Math.toIntExact(session.number(READABLE, module));
    }

    // ---- Modules

    /** Makes or changes the tables of a module, each version in a transaction of its own. */
    static void module(Database database, ModuleTables tables) throws SQLException {
        DatabaseSystem system = database.system();
        String module = tables.module();
        database.write(Migrations::makeVersions);
        int version = database.write(session -> version(session, module));
        int readable = system.isShared() ? database.write(session -> readable(session, module)) : version;
        run(
                "the tables of " + module + " have version",
                version,
                readable,
                system.kind() == DatabaseKind.SQLITE ? tables.finished() : tables.scripts(),
                (statements, next) -> {
                    List<String> all = statements.toList();
                    inTurn(database, session -> {
                        if (system.isMadeByAnother(session, module, next)) {
                            return true;
                        }
                        boolean isDone = system.changes(session, () -> {
                            execute(session, system, all);
                            setVersion(session, module, next);
                        });
                        database.storage().read(session); // a script may have added sums
                        return isDone;
                    });
                });
        if (system instanceof PostgresqlSystem postgresql
                && !tables.finishing().isEmpty()
                && (!system.isShared() || version == 0 && isNewest(database, postgresql))) {
            finish(database, postgresql, tables);
        }
    }

    private static void execute(DatabaseSession session, DatabaseSystem system, List<String> statements)
            throws SQLException {
        for (String sql : statements) {
            session.once(system.spelled(sql));
        }
    }

    /** Repeats a change of tables until it has not met others that use them. */
    private static void inTurn(Database database, DatabaseRead<Boolean> change) {
        for (int attempts = 1; !database.unhurried(() -> database.write(change)); attempts++) {
            LOG.log(Level.WARNING, "tables that are to be changed are in use; that is tried again");
            try {
                Thread.sleep(LOCKS.after(attempts, null));
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw new StoreException("interrupted while it waited for tables that are in use", stop);
            }
        }
    }

    // ---- The end of an upgrade

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

    /** Whether all hubs write the forms of this release: none of an older one starts. */
    private static boolean isNewest(Database database, PostgresqlSystem system) {
        return database.write(Migrations::level) >= system.release().level();
    }

    /** Returns a hub that has not ended and does not know all forms of a release, in words; empty if there is none. */
    private static Optional<String> older(DatabaseSession session, Release release) throws SQLException {
        return session.first(row -> DatabaseSession.text(row, 1), OLDER, release.level());
    }

    /**
     * Has all hubs that share a database write the forms of this release, then changes and removes what only older ones read.
     *
     * @param known tables of modules, in the order in which they are made
     * @return names of the tables that were changed
     * @throws StoreException if a hub that has not ended does not know these forms, or does not write them within 10 s
     */
    static List<String> finishAll(Database database, PostgresqlSystem system, List<ModuleTables> known)
            throws SQLException {
        int level = system.release().level();
        Optional<String> older = database.write(session -> {
            system.excludeStarts(session);
            Optional<String> found = older(session, system.release());
            if (found.isEmpty()) {
                raise(session, system.release());
            }
            return found;
        });
        if (older.isPresent()) {
            throw new StoreException("the upgrade cannot be finished: hub " + older.get() + " (expected: level " + level
                    + " of each hub; stop that hub, start it with the new release, and finish the upgrade then)");
        }
        if (!database.access().epochs().barrier(Epoch.LEVEL, level)) {
            throw new StoreException("the upgrade is not finished: a hub has not learned of level " + level
                    + " within 10 s (expected: hubs that see the database; try again)");
        }
        var changed = new ArrayList<String>();
        if (finish(database, system, system.release().tasks())) {
            changed.add(Release.TASKS);
        }
        for (ModuleTables tables : known) {
            if (database.write(session -> version(session, tables.module())) > 0) {
                module(database, tables);
                if (finish(database, system, tables)) {
                    changed.add(tables.module());
                }
            }
        }
        return changed;
    }

    /** Runs the finishing statements of tables that have not run yet; false if there are none. */
    private static boolean finish(Database database, PostgresqlSystem system, ModuleTables tables) {
        if (tables.finishing().isEmpty()) {
            return false;
        }
        int done = database.write(session -> readable(session, tables.module()));
        var left = new TreeMap<>(tables.finishing()).tailMap(done, false);
        left.forEach((version, script) -> {
            List<String> all = statements(script).toList();
            inTurn(database, session -> {
                system.excludeStarts(session);
                return readable(session, tables.module()) >= version
                        || system.changes(session, () -> finish(session, system, tables, all, version));
            });
        });
        return !left.isEmpty();
    }

    private static void finish(
            DatabaseSession session, PostgresqlSystem system, ModuleTables tables, List<String> statements, int version)
            throws SQLException {
        execute(session, system, statements);
        session.update("UPDATE module_version SET readable_from = ? WHERE module = ?", version, tables.module());
    }

    /** Runs all finishing statements of the tables of tasks that have not run yet, in the transaction in the making. */
    static void finishTasks(DatabaseSession session, PostgresqlSystem system) throws SQLException {
        ModuleTables tasks = system.release().tasks();
        if (!tasks.finishing().isEmpty()) {
            int done = readable(session, tasks.module());
            for (var left :
                    new TreeMap<>(tasks.finishing()).tailMap(done, false).entrySet()) {
                finish(session, system, tasks, statements(left.getValue()).toList(), left.getKey());
            }
        }
        raise(session, system.release());
    }
}
