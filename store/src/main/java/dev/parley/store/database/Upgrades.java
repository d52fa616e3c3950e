package dev.parley.store.database;

import dev.parley.protocol.retry.Backoff;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
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
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Changes of the tables of modules by the writer of a database, which other hubs may use, and the end of an upgrade.
 *
 * @param unhurried runs a change that may take longer than others' works wait
 */
record Upgrades(SlicedWrites database, Predicate<Supplier<Boolean>> unhurried, DatabaseSystem system, Storage storage) {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    private static final String OLDER =
            "SELECT name || ' (number ' || hub_no || ', version ' || version || ') understands level '"
                    + " || level FROM hub WHERE ended_at IS NULL AND level < ? ORDER BY level, hub_no LIMIT 1";

    /** Pauses before a table is locked again that others use: they work meanwhile. PostgreSQL does not tell when a table is free. */
    private static final Backoff LOCKS = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(2));

    /** Makes or changes the tables of a module, each version in a transaction of its own. */
    void module(ModuleTables tables) throws SQLException {
        String module = tables.module();
        database.write(1, Migrations::makeVersions);
        int version = database.write(1, session -> Migrations.version(session, module));
        int readable = system.isShared() ? database.write(1, session -> Migrations.readable(session, module)) : version;
        Migrations.run(
                "the tables of " + module + " have version",
                version,
                readable,
                system.kind() == DatabaseKind.SQLITE ? tables.finished() : tables.scripts(),
                (statements, next) -> {
                    List<String> all = statements.toList();
                    inTurn(session -> {
                        if (system.isMadeByAnother(session, module, next)) {
                            return true;
                        }
                        boolean isDone = system.changes(session, () -> {
                            Migrations.execute(session, system::spelled, all);
                            Migrations.setVersion(session, module, next);
                        });
                        storage.read(session); // a script may have added sums
                        return isDone;
                    });
                });
        if (system instanceof PostgresqlSystem postgresql
                && !tables.finishing().isEmpty()
                && (!system.isShared() || version == 0 && isNewest(postgresql))) {
            finish(postgresql, tables);
        }
    }

    /** Repeats a change of tables until it has not met others that use them. */
    private void inTurn(DatabaseRead<Boolean> change) {
        for (int attempts = 1; !unhurried.test(() -> database.write(1, change)); attempts++) {
            LOG.log(Level.WARNING, "tables that are to be changed are in use; that is tried again");
            try {
                Thread.sleep(LOCKS.after(attempts, null));
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw new StoreException("interrupted while it waited for tables that are in use", stop);
            }
        }
    }

    /** Whether all hubs write the forms of this release: none of an older one starts. */
    private boolean isNewest(PostgresqlSystem postgresql) {
        return database.write(1, Migrations::level) >= postgresql.release().level();
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
    List<String> finishAll(PostgresqlSystem postgresql, Epochs epochs, List<ModuleTables> known) throws SQLException {
        int level = postgresql.release().level();
        Optional<String> older = database.write(1, session -> {
            postgresql.excludeStarts(session);
            Optional<String> found = older(session, postgresql.release());
            if (found.isEmpty()) {
                Migrations.raise(session, postgresql.release());
            }
            return found;
        });
        if (older.isPresent()) {
            throw new StoreException("the upgrade cannot be finished: hub " + older.get() + " (expected: level " + level
                    + " of each hub; stop that hub, start it with the new release, and finish the upgrade then)");
        }
        if (!epochs.barrier(Epoch.LEVEL, level)) {
            throw new StoreException("the upgrade is not finished: a hub has not learned of level " + level
                    + " within 10 s (expected: hubs that see the database; try again)");
        }
        var changed = new ArrayList<String>();
        if (finish(postgresql, postgresql.release().tasks())) {
            changed.add(Release.TASKS);
        }
        for (ModuleTables tables : known) {
            if (database.write(1, session -> Migrations.version(session, tables.module())) > 0) {
                module(tables);
                if (finish(postgresql, tables)) {
                    changed.add(tables.module());
                }
            }
        }
        return changed;
    }

    /** Runs the finishing statements of tables that have not run yet; false if there are none. */
    private boolean finish(PostgresqlSystem postgresql, ModuleTables tables) {
        if (tables.finishing().isEmpty()) {
            return false;
        }
        int done = database.write(1, session -> Migrations.readable(session, tables.module()));
        var left = new TreeMap<>(tables.finishing()).tailMap(done, false);
        left.forEach((version, script) -> {
            List<String> all = Migrations.statements(script).toList();
            inTurn(session -> {
                postgresql.excludeStarts(session);
                return Migrations.readable(session, tables.module()) >= version
                        || system.changes(
                                session, () -> Migrations.finish(session, system::spelled, tables, all, version));
            });
        });
        return !left.isEmpty();
    }
}
