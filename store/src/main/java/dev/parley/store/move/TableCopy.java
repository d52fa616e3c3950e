package dev.parley.store.move;

import dev.parley.store.spi.StoreException;
import dev.parley.store.sql.StoredText;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Copies the rows of one table from SQLite to PostgreSQL, in batches that are committed.
 *
 * @param table its name in both
 * @param columns those of SQLite, and the types that PostgreSQL has for them
 * @param added columns that only PostgreSQL has, and their values as expressions of SQLite
 */
record TableCopy(String table, Map<String, String> columns, Map<String, String> added) {
    static final int ROWS_AT_ONCE = 1_000;
    private static final int BYTES_AT_ONCE = 4 << 20;

    private static final String NUL = "\0";

    /** Type of a column, and what converts its values. */
    private enum Type {
        WHOLE(Types.BIGINT, "a whole number"),
        REAL(Types.DOUBLE, "a number"),
        TEXT(Types.VARCHAR, "a text"),
        BYTES(Types.BINARY, "bytes");

        private final int jdbc;
        private final String words;

        Type(int jdbc, String words) {
            this.jdbc = jdbc;
            this.words = words;
        }

        static Type of(String table, String column, String type) {
            return switch (type) {
                case "bigint", "integer", "smallint" -> WHOLE;
                case "double precision", "real", "numeric" -> REAL;
                case "text", "character varying" -> TEXT;
                case "bytea" -> BYTES;
                default ->
                    throw new StoreException("table " + table + ": column " + column + " has the type " + type
                            + " (expected: a number, a text or bytes)");
            };
        }

        /** Returns the size of the value; -1 if the column cannot hold it. */
        int set(PreparedStatement statement, int index, @Nullable Object value) throws SQLException {
            switch (value) {
                case null -> statement.setNull(index, jdbc);
                case Number number
                when this == WHOLE && !(number instanceof Double) -> statement.setLong(index, number.longValue());
                case Number number when this == REAL -> statement.setDouble(index, number.doubleValue());
                case String text
                when this == TEXT -> {
                    // Texts of releases before the replacement of U+0000.
                    statement.setString(index, text.contains(NUL) ? text.replace(NUL, StoredText.encode(NUL)) : text);
                    return text.length();
                }
                case byte[] bytes
                when this == BYTES -> {
                    statement.setBytes(index, bytes);
                    return bytes.length;
                }
                default -> {
                    return -1;
                }
            }
            return Long.BYTES;
        }
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    private static String list(Iterable<String> names) {
        var quoted = new ArrayList<String>();
        names.forEach(name -> quoted.add(quoted(name)));
        return String.join(", ", quoted);
    }

    /** @param progress is told the rows of each batch */
    void run(Connection from, Connection to, LongConsumer progress) throws SQLException {
        String values = added.values().stream().map(value -> ", " + value).collect(Collectors.joining());
        var names = new ArrayList<>(columns.keySet());
        names.addAll(added.keySet());
        List<Type> types = new ArrayList<>();
        columns.forEach((column, type) -> types.add(Type.of(table, column, type)));
        added.keySet().forEach(column -> types.add(Type.WHOLE));
        try (Statement reading = from.createStatement();
                ResultSet row =
                        reading.executeQuery("SELECT " + list(columns.keySet()) + values + " FROM " + quoted(table));
                PreparedStatement writing = to.prepareStatement("INSERT INTO " + quoted(table) + " (" + list(names)
                        + ") OVERRIDING SYSTEM VALUE VALUES (?" + ", ?".repeat(names.size() - 1) + ")")) {
            int rows = 0;
            long bytes = 0;
            while (row.next()) {
                for (int i = 0; i < types.size(); i++) {
                    Object value = row.getObject(i + 1);
                    int size = types.get(i).set(writing, i + 1, value);
                    if (size < 0) {
                        throw new StoreException("table " + table + ": the row with " + names.getFirst() + " "
                                + row.getObject(1) + " has " + words(value) + " in the column " + names.get(i)
                                + " (expected: " + types.get(i).words + ")");
                    }
                    bytes += size;
                }
                writing.addBatch();
                rows++;
                if (rows == ROWS_AT_ONCE || bytes >= BYTES_AT_ONCE) {
                    write(writing, to);
                    progress.accept(rows);
                    rows = 0;
                    bytes = 0;
                }
            }
            if (rows > 0) {
                write(writing, to);
                progress.accept(rows);
            }
        }
    }

    private static String words(@Nullable Object value) {
        return value instanceof byte[] ? Type.BYTES.words : value instanceof String ? Type.TEXT.words : Type.REAL.words;
    }

    private void write(PreparedStatement writing, Connection to) throws SQLException {
        try {
            writing.executeBatch();
            to.commit();
        } catch (SQLException failure) {
            SQLException cause = failure.getNextException();
            throw new StoreException("table " + table + ": " + (cause == null ? failure : cause).getMessage(), failure);
        }
    }

    long rows(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM " + quoted(table))) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Has the numbers that PostgreSQL gives to new rows follow those that are there. */
    void continueNumbers(Connection to, String column) throws SQLException {
        try (Statement statement = to.createStatement()) {
            statement.execute("SELECT setval(pg_get_serial_sequence('" + quoted(table) + "', '" + column
                    + "'), coalesce(max(" + quoted(column) + "), 0) + 1, false) FROM " + quoted(table));
        }
    }
}
