package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Backups of docs/operations.md by pg_dump, where it is as new as the server: with the oldest PostgreSQL that is supported. */
@Tag("heavy")
@Timeout(180)
final class PostgresqlBackupTest {
    @TempDir
    private Path directory;

    @Test
    @DisplayName("N9: a dump of PostgreSQL under load has all tasks acknowledged before it, and a hub starts from it")
    void postgresql() throws Exception {
        int server =
                Integer.parseInt(System.getProperty("postgres.version", "99").replaceFirst("\\..*", ""));
        assumeThat(dumpVersion()).as("version of pg_dump").isGreaterThanOrEqualTo(server);
        Path data = directory.resolve("data");
        Path backup = Files.createDirectory(directory.resolve("backup"));
        String url = PostgresqlServer.url();
        String schema = url.substring(url.indexOf('=') + 1);
        String database = url.substring(0, url.indexOf('?'));
        List<String> before;
        try (var hub = new LoadedHub(Hub.builder().data(data).database(url))) {
            before = hub.acknowledged();

            run(
                    "pg_dump",
                    "--format=custom",
                    "--schema=" + schema,
                    "--file=" + backup.resolve("parley.dump"),
                    database);
            LoadedHub.copySecrets(data, backup);
        }

        String other = "restored_" + schema;
        run("createdb", "--encoding=UTF8", "--template=template0", "--maintenance-db=" + database, other);
        String target = database.replaceFirst("/[^/]*$", "/" + other);
        run(
                "pg_restore",
                "--exit-on-error",
                "--no-owner",
                "--dbname=" + target,
                backup.resolve("parley.dump").toString());
        Files.delete(backup.resolve("parley.dump"));
        try (Hub restored = Hub.builder()
                .data(backup)
                .database(target + "?currentSchema=" + schema)
                .port(0)
                .agents(LoadedHub.agent())
                .start()) {
            LoadedHub.assertHas(restored, before);
        }
    }

    private static int dumpVersion() throws Exception {
        try {
            Matcher version = Pattern.compile("\\) (\\d+)").matcher(run("pg_dump", "--version"));
            return version.find() ? Integer.parseInt(version.group(1)) : 0;
        } catch (IOException missing) {
            return 0;
        }
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
