package dev.parley.pipelines.etl;

import dev.parley.pipelines.etl.DataTable.Column;
import dev.parley.pipelines.etl.DataTable.Rejected;
import dev.parley.pipelines.etl.DataTable.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.stream.Collectors;

/** Writes a table into a file of SQLite: the rows into a table of its name, the rejected ones into {@code rejected}. */
final class SqliteExport {
    private SqliteExport() {}

    static byte[] of(DataTable table) throws SQLException, IOException {
        Path file = Files.createTempFile("parley-etl", ".sqlite");
        try {
            try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
                connection.setAutoCommit(false);
                rows(connection, table);
                rejected(connection, table);
                connection.commit();
            }
            return Files.readAllBytes(file);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private static void rows(Connection connection, DataTable table) throws SQLException {
        String name = quoted(table.name().equalsIgnoreCase("rejected") ? "rows" : table.name());
        execute(
                connection,
                table.columns().stream()
                        .map(column ->
                                quoted(column.name()) + " " + column.type().sql())
                        .collect(Collectors.joining(", ", "CREATE TABLE " + name + " (", ") STRICT")));
        String places = String.join(", ", Collections.nCopies(table.columns().size(), "?"));
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO " + name + " VALUES (" + places + ")")) {
            for (Row row : table.rows()) {
                for (int i = 0; i < table.columns().size(); i++) {
                    insert.setObject(i + 1, value(table.columns().get(i), row, i));
                }
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private static @org.jspecify.annotations.Nullable Object value(Column column, Row row, int index) {
        Object value = row.cells().get(index);
        return switch (value) {
            case null -> null;
            case Boolean truth -> truth ? 1 : 0;
            case Number number when column.type() == ColumnType.INTEGER -> number.longValue();
            case Number number -> number.doubleValue();
            default -> String.valueOf(value);
        };
    }

    private static void rejected(Connection connection, DataTable table) throws SQLException {
        execute(connection, "CREATE TABLE rejected (line INTEGER NOT NULL, reason TEXT NOT NULL) STRICT");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO rejected VALUES (?, ?)")) {
            for (Rejected row : table.rejected()) {
                insert.setInt(1, row.line());
                insert.setString(2, row.reason());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }
}
