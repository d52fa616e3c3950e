package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.hub.Hub;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hub with everything on, of which one row in each table was damaged while it did not run. */
@Tag("heavy")
@Timeout(300)
final class DamagedRowsTest {
    /** Tables of which a row is a fact about the whole database. */
    private static final Set<String> OF_ALL =
            Set.of("module_version", "sealing_key", "audit_end", "registry_search_config");

    @TempDir
    private Path directory;

    /** A text or bytes of a row. */
    private record Cell(String table, String column) {
        /** Damages the cell in the first row that has it; false if none has, or the database does not take it. */
        boolean damage(Connection database) throws SQLException {
            var row = new ArrayList<@Nullable Object>();
            var same = new StringJoiner(" AND ");
            try (ResultSet found = database.createStatement()
                    .executeQuery(
                            "SELECT * FROM " + table + " WHERE typeof(" + column + ") IN ('text', 'blob') LIMIT 1")) {
                if (!found.next()) {
                    return false;
                }
                for (int index = 1; index <= found.getMetaData().getColumnCount(); index++) {
                    same.add(found.getMetaData().getColumnName(index) + " IS ?");
                    row.add(found.getObject(index));
                }
            }
            try (PreparedStatement update = database.prepareStatement("UPDATE OR IGNORE " + table + " SET " + column
                    + " = CASE typeof(" + column + ") WHEN 'blob' THEN x'ff7b7822' ELSE '{\"x' END WHERE " + same)) {
                for (int index = 0; index < row.size(); index++) {
                    update.setObject(index + 1, row.get(index));
                }
                return update.executeUpdate() > 0;
            }
        }
    }

    private Path data(String name) {
        return directory.resolve(name);
    }

    private static Connection open(Path data) throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + data.resolve("parley.db"));
    }

    private RunningHub up(String data, Hub remote) throws InterruptedException {
        return new RunningHub(
                directory,
                Map.of(),
                "--data",
                data(data).toString(),
                "--webhook-allow",
                "127.0.0.1",
                "--drain",
                "0s",
                "--mcp-servers",
                directory.resolve("servers.json").toString(),
                "--remote",
                "fixed=" + remote.agentUrl("far"));
    }

    private Ran run(String... args) {
        return new Shell(directory).run(args);
    }

    /** What does not work any more with the cells damaged. */
    private List<String> problems(List<Cell> cells, Hub remote) throws Exception {
        Path data = data("damaged");
        if (Files.exists(data)) {
            try (var files = Files.list(data)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
        }
        Files.createDirectories(data);
        try (var files = Files.list(data("whole"))) {
            for (Path file : files.toList()) {
                Files.copy(file, data.resolve(file.getFileName()));
            }
        }
        try (Connection database = open(data)) {
            for (Cell cell : cells) {
                cell.damage(database);
            }
        }
        var problems = new ArrayList<String>();
        RunningHub hub = up("damaged", remote);
        if (hub.command.isDone()) {
            return List.of("no start: " + hub.err);
        }
        String url = hub.url();
        String echo = url + "/agents/echo";
        for (String[] line : new String[][] {
            {"send", "-a", echo, "hello"},
            {"send", "-a", url + "/agents/other-route", "hello"},
            {"send", "-a", url + "/agents/counter", "1"},
            {"workflow", "list", "-a", url},
            {"gateway", "list", "-a", url},
            {"agent", "list", "-a", url},
            {"agent", "changes", "-a", url},
            {"mcp", "servers", "-a", url},
            {"mcp", "tools", "-a", url},
            {"group", "list", "-a", url},
            {"group", "usage", "-a", url},
            {"user", "list", "-a", url},
            {"key", "list", "-a", url},
            {"audit", "tail", "-a", url},
            {"push", "dead-letters", "list", "-a", url},
            {"task", "list", "-a", echo},
            {"task", "list", "-a", url + "/agents/counter"},
            {"kg", "stats", "-a", echo},
            {"kg", "export", "-a", echo},
            {"kg", "review", "list", "-a", url},
            {"report", "usage", "-a", url},
        }) {
            Ran ran = run(line);
            if (ran.status() != 0) {
                problems.add(String.join(" ", List.of(line).subList(0, 2)) + ": " + ran.status() + " " + ran.err());
            }
        }
        hub.stop();
        if (hub.command.join() != 0) {
            problems.add("stop: " + hub.err);
        }
        Ran doctor = run("doctor", "--data", data.toString());
        if (doctor.status() > 1 || doctor.err().contains("Exception")) {
            problems.add("doctor: " + doctor.err());
        }
        return problems;
    }

    private List<List<Cell>> cells() throws SQLException {
        var rounds = new ArrayList<List<Cell>>();
        try (Connection database = open(data("whole"));
                ResultSet columns = database.createStatement()
                        .executeQuery(
                                "SELECT list.name, info.name FROM pragma_table_list AS list, pragma_table_info(list.name) AS info"
                                        + " WHERE list.type = 'table' AND list.schema = 'main' AND list.name NOT LIKE 'sqlite%'"
                                        + " ORDER BY list.name, info.cid")) {
            String table = "";
            int round = 0;
            while (columns.next()) {
                var cell = new Cell(columns.getString(1), columns.getString(2));
                if (OF_ALL.contains(cell.table)) {
                    continue;
                }
                round = table.equals(cell.table) ? round : 0;
                table = cell.table;
                database.setAutoCommit(false);
                boolean has = cell.damage(database);
                database.rollback();
                if (has) {
                    while (rounds.size() <= round) {
                        rounds.add(new ArrayList<>());
                    }
                    rounds.get(round++).add(cell);
                }
            }
        }
        return rounds;
    }

    @Test
    @DisplayName(
            "a damaged text in any row keeps neither the hub from starting nor others from being served and listed")
    void theFaultOfOneRowIsItsOwn() throws Exception {
        Files.writeString(directory.resolve("servers.json"), "{\"mcpServers\":{}}");
        try (Hub remote = HubContents.remote()) {
            try (RunningHub hub = up("whole", remote)) {
                HubContents.fill(directory, hub.url(), remote);
            }
            try (Connection whole = open(data("whole"));
                    Statement statement = whole.createStatement()) {
                statement.execute("PRAGMA wal_checkpoint(TRUNCATE)");
            }
            var found = new ArrayList<String>();
            for (List<Cell> round : cells()) {
                if (!problems(round, remote).isEmpty()) {
                    for (Cell cell : round) {
                        problems(List.of(cell), remote).forEach(problem -> found.add(cell + ": " + problem));
                    }
                }
            }

            assertThat(found).isEmpty();
        }
    }
}
