package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hubs with directories of their own on one database, which need the same secrets. */
@Tag("heavy")
@Timeout(240)
final class SharedSecretsTest {
    private static final List<String> FILES = List.of("token.secret", "webhook.master", "encryption.key");

    @TempDir
    private Path directory;

    private Path data(String hub) {
        return directory.resolve(hub).resolve("data");
    }

    /** Returns all rows that a start changes. */
    private static List<String> rows(DatabaseServer server) throws SQLException {
        var rows = new ArrayList<String>();
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            for (String table : List.of("hub", "stream", "stream_end", "module_version", "secret_print", "task")) {
                try (ResultSet row = statement.executeQuery("SELECT t::text FROM " + table + " t ORDER BY 1")) {
                    while (row.next()) {
                        rows.add(table + row.getString(1));
                    }
                }
            }
        }
        return rows;
    }

    private void assertRefused(String hub, DatabaseServer server, String problem, String... more) throws Exception {
        try (var refused = HubProcess.launch(directory.resolve(hub), server.url(), more)) {
            assertThat(refused.exitStatus()).as(refused.log()).isEqualTo(1);
            assertThat(refused.log()).contains(problem, "parley secrets ", "--secrets");
        }
    }

    private void run(String... words) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "dev.parley.cli.Main"));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .inheritIO()
                .start();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).isZero();
    }

    @Test
    void aHubStartsWithTheSecretsOfTheDatabaseOnly() throws Exception {
        try (var server = DatabaseServer.primary()) {
            String task;
            try (var first = HubProcess.start(directory.resolve("first"), server.url())) {
                task = first.calls().send("one").sentTask();
                assertRefused("new", server, "token.secret\": missing, and the database belongs with one");
                assertThat(first.calls().send("one").sentTask()).isEqualTo(task);
            }
            assertThat(data("new")).doesNotExist();
            List<String> before = rows(server);
            try (var alone = DatabaseServer.primary();
                    var second = HubProcess.start(directory.resolve("second"), alone.url())) {
                assertThat(second.isAlive()).isTrue();
            }
            Files.delete(data("second").resolve("database.url"));
            for (String name : FILES) {
                Path own = data("second").resolve(name);
                assertRefused(
                        "second", server, "secret file \"" + own + "\": not the one that the database belongs with");
                Path aside = Files.move(own, directory.resolve(name));
                assertRefused(
                        "second", server, "secret file \"" + own + "\": missing, and the database belongs with one");
                assertThat(own).doesNotExist();
                Files.delete(aside);
                Files.copy(data("first").resolve(name), own);
            }
            assertThat(rows(server)).isEqualTo(before);
            assertThat(data("second").resolve("database.url")).doesNotExist();

            run("secrets", "export", "--data", data("first").toString(), "secrets.json");
            run("secrets", "import", "--data", data("third").toString(), "secrets.json");
            for (String hub : List.of("second", "third")) {
                try (var hubs = HubProcess.start(directory.resolve(hub), server.url())) {
                    assertThat(hubs.calls().send("one").sentTask()).isEqualTo(task);
                }
            }
        }
    }

    @Test
    void aHubReadsADirectoryOfSecretsThatItCannotWrite() throws Exception {
        try (var server = DatabaseServer.primary()) {
            try (var first = HubProcess.start(directory.resolve("first"), server.url())) {
                assertThat(first.calls().send("one").sentTask()).isNotNull();
            }
            Path mount = Files.createDirectory(directory.resolve("mount"));
            Path contents = Files.createDirectory(mount.resolve("..2026"));
            Files.createSymbolicLink(mount.resolve("..data"), contents.getFileName());
            for (String name : FILES) {
                Path file = Files.copy(data("first").resolve(name), contents.resolve(name));
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
                Files.createSymbolicLink(mount.resolve(name), Path.of("..data", name));
            }
            Files.setPosixFilePermissions(contents, PosixFilePermissions.fromString("r-xr-xr-x"));
            Files.setPosixFilePermissions(mount, PosixFilePermissions.fromString("r-xr-xr-x"));
            try {
                String[] secrets = {"--secrets", mount.toString()};
                try (var second = HubProcess.start(directory.resolve("second"), server.url(), secrets)) {
                    assertThat(second.calls().send("two").sentTask()).isNotNull();
                }
                for (String name : FILES) {
                    assertThat(data("second").resolve(name)).doesNotExist();
                }
            } finally {
                Files.setPosixFilePermissions(mount, PosixFilePermissions.fromString("rwx------"));
                Files.setPosixFilePermissions(contents, PosixFilePermissions.fromString("rwx------"));
            }
            Files.delete(mount.resolve("webhook.master"));
            assertRefused(
                    "third",
                    server,
                    "secret file \"" + mount.resolve("webhook.master") + "\": missing",
                    "--secrets",
                    mount.toString());
        }
    }
}
