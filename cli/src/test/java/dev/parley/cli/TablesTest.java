package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The tables of a hub with everything on, in SQLite. */
@Timeout(120)
final class TablesTest {
    /** Columns of names, ids, hashes and the like, all of which have limits; a part of the audit has a line for each change of a commit. */
    private static final Set<String> SHORT = Set.of(
            "audit_part.group_id",
            "audit_part.hash",
            "audit_part.places",
            "gateway_context.group_id",
            "gateway_context.id",
            "gateway_context.owner",
            "gateway_context.replica",
            "gateway_context.route",
            "kg_change.replaced",
            "kg_change.types",
            "kg_task.task_id",
            "message.message_id",
            "message.task_id",
            "registry_label.label",
            "registry_peer_revocation.digest",
            "registry_peer_revocation.id",
            "registry_peer_revocation.peer",
            "registry_recovery_key.hash",
            "registry_search_config.k",
            "registry_search_config.v",
            "registry_search_idx.pgno",
            "registry_search_idx.segid",
            "registry_search_idx.term",
            "stored.group_id",
            "stored.kind",
            "task_name.name",
            "task_name.task_id",
            "webhook.channel",
            "webhook.config",
            "webhook.config_id",
            "webhook.dialect",
            "webhook.error",
            "webhook.task_id",
            "webhook.task_name");

    @TempDir
    private Path directory;

    @Test
    @DisplayName(
            "T1 tables that are their own index have short rows: SQLite reads a row of them to its end to compare its key")
    void rowsOfTablesWithoutNumbersAreShort() throws SQLException, InterruptedException {
        try (var hub = new RunningHub(
                directory,
                Map.of(),
                "--data",
                directory.resolve("data").toString(),
                "--remote",
                "far=http://127.0.0.1:9/agents/far")) {
            Columns columns;
            try (Connection database =
                    DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("data/parley.db"))) {
                columns = columnsOfTablesWithoutNumbers(database);
            }

            assertThat(columns.tables())
                    .contains("message", "gateway_context", "registry_label", "kg_statement")
                    .doesNotContain("segment", "gateway_task", "extension_timer");
            assertThat(columns.texts()).isSubsetOf(SHORT);
        }
    }

    @Test
    void aPlantedTextInATableWithoutNumbersIsFound() throws SQLException {
        try (Connection database = DriverManager.getConnection("jdbc:sqlite::memory:");
                Statement statement = database.createStatement()) {
            statement.execute("CREATE TABLE numbered (id INTEGER PRIMARY KEY, text TEXT)");
            statement.execute("CREATE TABLE planted (id BIGINT PRIMARY KEY, text TEXT) WITHOUT ROWID");

            assertThat(columnsOfTablesWithoutNumbers(database))
                    .isEqualTo(new Columns(Set.of("planted"), Set.of("planted.text")));
        }
    }

    /** @param texts the columns of the tables that may be long */
    private record Columns(Set<String> tables, Set<String> texts) {}

    private static Columns columnsOfTablesWithoutNumbers(Connection database) throws SQLException {
        var texts = new TreeSet<String>();
        var tables = new TreeSet<String>();
        try (Statement statement = database.createStatement();
                ResultSet columns =
                        statement.executeQuery("SELECT list.name, info.name, info.type FROM pragma_table_list AS list,"
                                + " pragma_table_info(list.name) AS info WHERE list.wr = 1 AND list.schema = 'main'")) {
            while (columns.next()) {
                tables.add(columns.getString(1));
                if (!columns.getString(3).matches("INTEGER|BIGINT|DOUBLE PRECISION")) {
                    texts.add(columns.getString(1) + "." + columns.getString(2));
                }
            }
        }
        return new Columns(tables, texts);
    }
}
