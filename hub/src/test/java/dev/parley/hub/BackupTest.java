package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.admin.HubOperation.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Backups of docs/operations.md: a copy of the database of a hub under load, and the secrets. */
@Timeout(120)
final class BackupTest {
    @TempDir
    private Path directory;

    @Test
    @DisplayName("N9: a copy of SQLite under load has all tasks acknowledged before it, and a hub starts from it")
    void sqlite() throws Exception {
        Path data = directory.resolve("data");
        Path backup = Files.createDirectory(directory.resolve("backup"));
        List<String> before;
        try (var hub = new LoadedHub(Hub.builder().data(data))) {
            before = hub.acknowledged();

            try (Connection copying =
                            DriverManager.getConnection("jdbc:sqlite:file:" + data.resolve("parley.db") + "?mode=ro");
                    Statement statement = copying.createStatement()) {
                statement.execute("VACUUM INTO '" + backup.resolve("parley.db") + "'");
            }
            LoadedHub.copySecrets(data, backup);

            assertThat(hub.acknowledged().size()).isGreaterThanOrEqualTo(before.size());
        }
        assertThat(backup.resolve("encryption.key")).exists();

        assertThat(Checkup.of(backup, null, null)).noneMatch(finding -> finding.level() == Level.PROBLEM);
        try (Hub restored =
                Hub.builder().data(backup).port(0).agents(LoadedHub.agent()).start()) {
            LoadedHub.assertHas(restored, before);
        }
    }
}
