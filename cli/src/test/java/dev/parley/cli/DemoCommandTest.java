package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class DemoCommandTest {
    @TempDir
    private Path directory;

    private Shell.Ran demo(String... words) {
        String[] all = new String[words.length + 1];
        all[0] = "demo";
        System.arraycopy(words, 0, all, 1, words.length);
        return new Shell(directory).run(all);
    }

    private String result(String name) throws IOException {
        return Files.readString(directory.resolve("parley-demo").resolve(name));
    }

    @Test
    @DisplayName("AV34 parley demo etl runs five agents as a workflow and saves a database and a report")
    void etl() throws Exception {
        Shell.Ran ran = demo("etl");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.err()).contains("read: completed", "report: completed");
        assertThat(ran.out().lines()).hasSize(3).first().asString().endsWith("orders.sqlite");
        assertThat(result("quality.md")).contains("25 rows read, 18 loaded, 7 rejected.");
        try (Connection database =
                        DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("parley-demo/orders.sqlite"));
                Statement statement = database.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM orders")) {
            assertThat(row.getInt(1)).isEqualTo(18);
        }
    }

    @Test
    void etlOfAFileWithRules() throws IOException {
        Files.writeString(directory.resolve("a.jsonl"), "{\"n\":1}\n{\"n\":5}\n");
        Files.writeString(directory.resolve("rules.json"), "{\"n\":{\"max\":3}}");

        Shell.Ran ran = demo("etl", "--rules", "rules.json", "a.jsonl");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(result("quality.md")).contains("2 rows read, 1 loaded, 1 rejected.", "| 2 | n: more than 3 |");
    }

    @Test
    @DisplayName("AV34 parley demo research runs five agents as a workflow and saves a report with citations")
    void research() throws IOException {
        Shell.Ran ran = demo("research");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.err()).contains("fetch: completed", "write: completed");
        assertThat(result("report.md"))
                .contains(
                        "Several sources agree", "was opened in 1966. [1][2]", "![Statements by source](sources.png)");
    }

    @Test
    void failuresAreReportedWithTheirStep() throws IOException {
        Shell.Ran missing = demo("etl", "none.csv");
        assertThat(missing.status()).isEqualTo(2);
        assertThat(missing.err()).contains("none.csv");

        Files.writeString(directory.resolve("empty.csv"), "");
        Shell.Ran empty = demo("etl", "empty.csv");
        assertThat(empty.status()).isEqualTo(1);
        assertThat(empty.err()).contains("read: empty.csv: no rows");

        Shell.Ran refused = demo("research", "http://127.0.0.1:1/");
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.err()).contains("127.0.0.1 is a loopback address");
    }
}
