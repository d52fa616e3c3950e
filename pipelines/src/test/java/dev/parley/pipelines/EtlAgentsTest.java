package dev.parley.pipelines;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import dev.parley.dialect.Json;
import dev.parley.pipelines.etl.EtlAgents;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class EtlAgentsTest {
    private static final List<String> NONE = List.of();

    @TempDir
    private Path dir;

    private final Steps steps = new Steps(EtlAgents.all());

    @AfterEach
    void close() {
        steps.close();
    }

    @Test
    @DisplayName("AV34 the ETL agents make a database and a report of quality of the sample")
    void theSampleBecomesADatabaseAndAReport() throws Exception {
        Object rules = Json.read(Steps.sample("orders-rules.json"), Map.class);
        steps.run("etl-read", Map.of(), NONE, Part.file("orders.csv", "text/csv", Steps.sample("orders.csv")));
        steps.run("etl-check", Map.of("rules", rules), List.of("etl-read"));
        Task clean = steps.run("etl-clean", Map.of(), List.of("etl-read", "etl-check"));
        Task load = steps.run("etl-load", Map.of(), List.of("etl-clean"));
        Task report = steps.run("etl-report", Map.of(), List.of("etl-check", "etl-clean"));

        assertThat(((Part.Data) part(clean, 0)).data())
                .asInstanceOf(MAP)
                .extractingByKey("counts")
                .isEqualTo(Map.of("rowsRead", 25, "rowsKept", 18, "rowsRejected", 7));
        Path file = Files.write(dir.resolve("orders.sqlite"), ((Part.Raw) part(load, 1)).raw());
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            assertThat(text(database, "SELECT group_concat(line) FROM rejected"))
                    .isEqualTo("6,8,10,12,14,17,24");
            assertThat(text(database, "SELECT count(*), sum(quantity), max(typeof(price)), max(postcode) FROM orders"))
                    .startsWith("18,");
            assertThat(text(database, "SELECT postcode, typeof(quantity) FROM orders WHERE \"order\" = 1001"))
                    .isEqualTo("0150,integer");
            assertThat(text(database, "SELECT reason FROM rejected WHERE line = 12"))
                    .isEqualTo("order: repeats line 11");
        }
        assertThat(((Part.Text) part(report, 0)).text())
                .startsWith("# Quality of orders\n\n25 rows read, 18 loaded, 7 rejected.")
                .contains("| 10 | date: not of the type date |")
                .contains("| 6 | quantity: less than 1 |")
                .contains("![Cells by column](quality.png)");
        assertThat(((Part.Raw) part(report, 1)).raw()).startsWith(0x89, 'P', 'N', 'G');
    }

    @Test
    void jsonLinesAreReadLikeCsv() {
        String lines = "{\"a\":1,\"b\":\"x\"}\n{\"a\":2}\nno json\n{\"a\":3,\"b\":{\"c\":true}}\n";

        Task task = steps.run("etl-read", Map.of("text", lines, "name", "things"), NONE);

        assertThat(((Part.Data) part(task, 0)).data())
                .asInstanceOf(MAP)
                .containsEntry("table", "things")
                .containsEntry(
                        "columns", List.of(Map.of("name", "a", "type", "integer"), Map.of("name", "b", "type", "text")))
                .containsEntry(
                        "rows",
                        List.of(
                                List.of(1, "1", "x"),
                                java.util.Arrays.asList(2, "2", null),
                                List.of(4, "3", "{\"c\":true}")));
    }

    @Test
    void badInputIsRejectedWithItsPlace() {
        assertThat(rejection(steps.send("etl-read", Map.of(), NONE))).contains("expected: one file of CSV");
        assertThat(rejection(steps.send(
                        "etl-read", Map.of(), NONE, Part.file("a.csv", "text/csv", "a,a\n1,2\n".getBytes(UTF_8)))))
                .contains("two columns have the same name");
        assertThat(rejection(steps.send("etl-check", Map.of(), NONE))).contains("the result of etl-read");
        steps.run("etl-read", Map.of("text", "a,b\n1,2\n"), NONE);
        assertThat(rejection(steps.send(
                        "etl-check", Map.of("rules", Map.of("c", Map.of("min", 1))), List.of("etl-read"))))
                .isEqualTo("parameters.rules.c: no such column (expected: a, b)");
        assertThat(rejection(steps.send(
                        "etl-check", Map.of("rules", Map.of("a", Map.of("least", 1))), List.of("etl-read"))))
                .startsWith("parameters.rules.a.least: unknown");
    }

    private static String rejection(Task task) {
        assertThat(task.state()).isEqualTo(TaskState.REJECTED);
        return requireNonNull(task.status().message()).text();
    }

    static Part part(Task task, int index) {
        return task.artifacts().stream()
                .flatMap(artifact -> artifact.parts().stream())
                .toList()
                .get(index);
    }

    private static String text(Connection database, String sql) throws Exception {
        try (ResultSet row = database.createStatement().executeQuery(sql)) {
            row.next();
            var text = new StringBuilder(row.getString(1));
            for (int i = 2; i <= row.getMetaData().getColumnCount(); i++) {
                text.append(',').append(row.getString(i));
            }
            return text.toString();
        }
    }
}
