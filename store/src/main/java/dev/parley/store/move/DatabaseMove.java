package dev.parley.store.move;

import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.SqliteSystem;
import dev.parley.store.files.DataFiles;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.NotOpenedException;
import dev.parley.store.spi.NotOpenedException.Reason;
import dev.parley.store.spi.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;

/**
 * A move of the database of a data directory from SQLite to PostgreSQL. All ids, names and numbers stay the same. The directory is not
 * changed. The target has a mark from the beginning to {@link #finish}, with which no hub opens it: a move that was interrupted begins
 * anew, and removes what it has copied.
 *
 * <p>The tables are made by the scripts of their modules. A table without a known module is refused.
 */
public final class DatabaseMove implements AutoCloseable {
    private static final String AUDIT_END = "audit_end";

    /** Hash of a chain without links. */
    private static final String BEGINNING = "0".repeat(64);

    /** Keeps values of rows, which may be personal data or secrets, out of errors of the server and of batches. */
    private static final String WITHOUT_VALUES = "logServerErrorDetail=false";

    /** Receiver of the progress of a move. */
    public interface Progress {
        /**
         * A batch of rows was copied.
         *
         * @param table that is being copied
         * @param copied rows of all tables up to now
         * @param all rows of all tables
         */
        void copied(String table, long copied, long all);
    }

    private final SqliteSource source;
    private final PostgresqlTarget target;
    private final List<TableCopy> tables;

    private DatabaseMove(SqliteSource source, PostgresqlTarget target, List<TableCopy> tables) {
        this.source = source;
        this.target = target;
        this.tables = tables;
    }

    /**
     * Begins or repeats a move. Locks the directory, and makes all tables in the target.
     *
     * @param target URL of an empty database, or of the one of an unfinished move of these data
     * @param known tables of all modules in PostgreSQL, in the order in which they can be made
     * @throws StoreException if the directory is in use or has other tables, or the target is not empty or cannot be written
     */
    public static DatabaseMove begin(Path directory, String target, List<ModuleTables> known) {
        return begin(directory, new PostgresqlUrl(target + (target.contains("?") ? "&" : "?") + WITHOUT_VALUES), known);
    }

    /** {@link #begin(Path, String, List)} with connections of another source. */
    public static DatabaseMove begin(Path directory, DataSource target, List<ModuleTables> known) {
        SqliteSource source = SqliteSource.open(directory);
        try {
            List<ModuleTables> modules = modules(source, known);
            PostgresqlTarget opened = PostgresqlTarget.open(
                    target, directory.toAbsolutePath().normalize().toString(), source.origin());
            try {
                opened.make(modules);
                return new DatabaseMove(source, opened, tables(source, opened, modules));
            } catch (SQLException | RuntimeException failure) {
                opened.close();
                throw failure;
            }
        } catch (SQLException failure) {
            close(source);
            throw new StoreException("the move failed: " + failure.getMessage(), failure);
        } catch (RuntimeException refused) {
            close(source);
            throw refused;
        }
    }

    private static void close(SqliteSource source) {
        try {
            source.close();
        } catch (SQLException | IOException failure) {
            throw new StoreException("the directory could not be closed: " + failure.getMessage(), failure);
        }
    }

    /** The modules that have tables in the source. */
    private static List<ModuleTables> modules(SqliteSource source, List<ModuleTables> known) throws SQLException {
        var sqlite = new SqliteSystem(use -> source.connection(), DataFiles.none());
        try (Statement statement = source.connection().createStatement();
                ResultSet row = statement.executeQuery("PRAGMA user_version")) {
            requireVersion("tasks", row.getInt(1), sqlite.currentSchema());
        }
        Map<String, Integer> versions = source.modules();
        var modules = new ArrayList<ModuleTables>();
        for (ModuleTables module : known) {
            Integer version = versions.remove(module.module());
            if (version != null) {
                requireVersion(module.module(), version, module.scripts().size());
                modules.add(module);
            }
        }
        if (!versions.isEmpty()) {
            throw new NotOpenedException(
                    Reason.DIRECTORY,
                    "the database has tables of modules that this program does not know: "
                            + String.join(", ", versions.keySet())
                            + " (expected: the archives of their extensions, by --agents)");
        }
        return modules;
    }

    private static void requireVersion(String module, int version, int current) {
        if (version != current) {
            throw new NotOpenedException(
                    Reason.DIRECTORY,
                    "the tables of " + module + " have version " + version + " (expected: " + current
                            + (version < current
                                    ? "; a start of the hub of this version on SQLite brings them up to date)"
                                    : "; they are written by a newer Parley)"));
        }
    }

    private static List<TableCopy> tables(SqliteSource source, PostgresqlTarget target, List<ModuleTables> modules)
            throws SQLException {
        Set<String> rebuilt = new HashSet<>(Set.of(AUDIT_END));
        modules.forEach(module -> rebuilt.addAll(module.rebuilt()));
        Map<String, Map<String, String>> there = target.columns();
        var copies = new ArrayList<TableCopy>();
        for (String table : source.tables()) {
            if (rebuilt.contains(table)) {
                continue;
            }
            Map<String, String> types = there.getOrDefault(table.toLowerCase(Locale.ROOT), Map.of());
            if (types.isEmpty()) {
                throw new NotOpenedException(
                        Reason.DIRECTORY, "table " + table + ": of no known module (expected: tables of Parley)");
            }
            var columns = new LinkedHashMap<String, String>();
            for (String column : source.columns(table)) {
                String type = types.get(column.toLowerCase(Locale.ROOT));
                if (type == null) {
                    throw new NotOpenedException(
                            Reason.DIRECTORY, "table " + table + ": PostgreSQL has no column " + column);
                }
                columns.put(column.toLowerCase(Locale.ROOT), type);
            }
            copies.add(new TableCopy(table.toLowerCase(Locale.ROOT), columns, added(table, target.stream())));
        }
        return copies;
    }

    /** Columns of the store for several hubs. */
    private static Map<String, String> added(String table, long stream) {
        return switch (table) {
            case "task" ->
                Map.of(
                        "owner", "CASE WHEN state IN (0, 1, 2) THEN " + stream + " END",
                        "stream_no", "CASE WHEN entry_no IS NOT NULL THEN " + stream + " END");
            case "segment", "message", "audit", "audit_log" -> Map.of("stream_no", String.valueOf(stream));
            default -> Map.of();
        };
    }

    /**
     * Copies all rows, and compares their numbers.
     *
     * @return rows by table
     * @throws StoreException if a row cannot be moved; the mark stays
     */
    public Map<String, Long> copy(Progress progress) {
        try {
            var counts = new LinkedHashMap<String, Long>();
            for (TableCopy table : tables) {
                counts.put(table.table(), table.rows(source.connection()));
            }
            long all = counts.values().stream().mapToLong(Long::longValue).sum();
            target.empty(tables);
            long[] copied = {0};
            for (TableCopy table : tables) {
                table.run(source.connection(), target.connection(), rows -> {
                    copied[0] += rows;
                    progress.copied(table.table(), copied[0], all);
                });
            }
            completeAudit();
            for (TableCopy table : tables) {
                long there = table.rows(target.connection());
                if (there != counts.getOrDefault(table.table(), 0L)) {
                    throw new StoreException("table " + table.table() + ": " + there + " rows were copied (expected: "
                            + counts.get(table.table()) + ")");
                }
            }
            target.connection().commit();
            return counts;
        } catch (SQLException failure) {
            throw new StoreException("the move failed: " + failure.getMessage(), failure);
        }
    }

    private void completeAudit() throws SQLException {
        if (!source.tables().contains(AUDIT_END)) {
            target.complete(tables, 0, BEGINNING);
            return;
        }
        try (Statement statement = source.connection().createStatement();
                ResultSet row = statement.executeQuery("SELECT row_no, hash FROM " + AUDIT_END)) {
            if (row.next()) {
                target.complete(tables, row.getLong(1), DatabaseSession.text(row, 2));
            } else {
                target.complete(tables, 0, BEGINNING);
            }
        }
    }

    /** Removes the mark, so that hubs may use the target. To be called when it is verified. */
    public void finish() {
        try {
            target.finish();
        } catch (SQLException failure) {
            throw new StoreException("the move could not be ended: " + failure.getMessage(), failure);
        }
    }

    @Override
    public void close() {
        try {
            target.close();
        } catch (SQLException failure) {
            throw new StoreException("the target could not be closed: " + failure.getMessage(), failure);
        } finally {
            close(source);
        }
    }
}
