package dev.parley.registry.store;

import dev.parley.registry.Entry;
import dev.parley.registry.spi.DerivedTable;
import dev.parley.registry.spi.EntryListener;
import dev.parley.registry.store.EntryRows.Numbered;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tables that extensions derive from entries. The record notes the last change that each table has, so that one which was not there when
 * entries changed gets them at the next start. See {@code docs/adr/0121-extensions-of-a-registry.md}. Safe for any thread.
 */
public final class DerivedTables implements EntryListener {
    private static final Logger LOG = System.getLogger("dev.parley.registry");
    private static final int PAGE = 200;
    private static final long PROGRESS_NANOS = 10_000_000_000L;

    /** Not moved to another database: the tables are made up there from all entries. */
    static final ModuleTables TABLES = new ModuleTables(
            "registry-derived",
            List.of("CREATE TABLE registry_derived (name TEXT PRIMARY KEY, change BIGINT NOT NULL)"),
            Set.of("registry_derived"));

    private record Derived(DerivedTable table, EntryListener listener) {}

    private record Pending(long number, long change) {}

    /**
     * Changes that a table does not have.
     *
     * @param last change that the table has
     * @param newest change of the record
     * @param erased change of the last erasure of an entry
     */
    private record Missing(long last, long newest, long erased) {}

    private final Database database;
    private final EntryWriter writer;
    private final List<Derived> all = new CopyOnWriteArrayList<>();

    DerivedTables(Database database, EntryWriter writer) {
        this.database = database;
        this.writer = writer;
        database.migrate(TABLES);
        writer.listen(this);
    }

    void add(DerivedTable table, EntryListener listener) {
        var unused = database.write(session -> session.update(
                "INSERT INTO registry_derived (name, change) VALUES (?, 0) ON CONFLICT DO NOTHING", table.name()));
        all.add(new Derived(table, listener));
    }

    @Override
    public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
        for (Derived each : all) {
            each.listener.changed(session, number, now);
            advance(session, each);
        }
    }

    @Override
    public void reviewed(DatabaseSession session, long number, Entry now) throws SQLException {
        for (Derived each : all) {
            each.listener.reviewed(session, number, now);
        }
    }

    @Override
    public void erased(DatabaseSession session, long number) throws SQLException {
        for (Derived each : all) {
            each.listener.erased(session, number);
            advance(session, each);
        }
    }

    /** Notes the change of this transaction, unless the table lacks one before it. */
    private static void advance(DatabaseSession session, Derived each) throws SQLException {
        session.update(
                "UPDATE registry_derived SET change = change + 1 WHERE name = ? AND change = (SELECT change FROM registry_newest) - 1",
                each.table.name());
    }

    /**
     * Brings the tables up to date, in short transactions. To be called before the first answer from them, and after changes by other hubs,
     * which may not have the extensions.
     */
    public void catchUp() {
        all.forEach(this::catchUp);
    }

    private void catchUp(Derived each) {
        String name = each.table.name();
        Missing missing = database.read(session -> session.first(
                        row -> new Missing(row.getLong(1), row.getLong(2), row.getLong(3)),
                        "SELECT d.change, n.change, (SELECT coalesce(max(c.number), 0) FROM registry_change c WHERE c.entry = 0)"
                                + " FROM registry_derived d, registry_newest n WHERE d.name = ?",
                        name))
                .orElseThrow();
        if (missing.last == missing.newest) {
            return;
        }
        // First, for a start that is cut off later notes changes after the erasure.
        if (missing.last == 0 || missing.erased > missing.last) {
            removeErased(each);
        }
        long all = database.read(session -> session.number(
                "SELECT count(*) FROM registry_entry WHERE change > ? AND change <= ?", missing.last, missing.newest));
        var progress = new Object() {
            private long derived;
            private long told = System.nanoTime();
        };
        database.writeInSlices(
                new Pending(0, missing.last),
                (session, last) -> session.list(
                        row -> new Pending(row.getLong(1), row.getLong(2)),
                        "SELECT number, change FROM registry_entry WHERE change > ? AND change <= ? ORDER BY change LIMIT "
                                + PAGE,
                        last.change,
                        missing.newest),
                false,
                () -> {
                    if (System.nanoTime() - progress.told > PROGRESS_NANOS) {
                        progress.told = System.nanoTime();
                        LOG.log(Level.INFO, "{0}: {1} of {2} entries are derived", name, progress.derived, all);
                    }
                    return true;
                },
                (session, entry) -> {
                    progress.derived++;
                    return derive(session, each, entry);
                });
        var unused = database.write(session -> session.update(
                "UPDATE registry_derived SET change = ? WHERE name = ? AND change < ?",
                missing.newest,
                name,
                missing.newest));
    }

    /** Derives the rows of an entry, unless it has changed meanwhile: then it comes once more, after the others. */
    private int derive(DatabaseSession session, Derived each, Pending pending) throws SQLException {
        writer.lock().take(session);
        List<Numbered> entry = EntryRows.list(
                session,
                "SELECT " + EntryRows.COLUMNS + " FROM registry_entry e WHERE e.number = ? AND e.change = ?",
                pending.number,
                pending.change);
        for (Numbered now : entry) {
            each.listener.changed(session, now.number(), now.found());
        }
        return session.update(
                "UPDATE registry_derived SET change = ? WHERE name = ? AND change < ?",
                pending.change,
                each.table.name(),
                pending.change);
    }

    /** Removes the rows of entries that are erased. */
    private void removeErased(Derived each) {
        String number = each.table.name() + "." + each.table.number();
        String isErased = " NOT EXISTS (SELECT 1 FROM registry_entry e WHERE e.number = ";
        database.writeInSlices(
                -1L,
                (session, last) -> session.list(
                        row -> row.getLong(1),
                        "SELECT DISTINCT " + number + " FROM " + each.table.name() + " WHERE " + number + " > ? AND"
                                + isErased + number + ") ORDER BY 1 LIMIT " + PAGE,
                        last),
                true,
                () -> true,
                (session, erased) -> {
                    writer.lock().take(session);
                    if (EntryRows.byNumber(session, erased)
                            .isEmpty()) { // SQLite gives the number of the last row again
                        each.listener.erased(session, erased);
                    }
                    return 1;
                });
    }
}
