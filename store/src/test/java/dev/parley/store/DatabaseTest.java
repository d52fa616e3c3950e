package dev.parley.store;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DatabaseTest {
    @TempDir
    private Path directory;

    private String onDisk() throws IOException {
        var all = new StringBuilder();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                all.append(Files.readString(file, ISO_8859_1));
            }
        }
        return all.toString();
    }

    @Test
    void whatWasRemovedBeforeIsErasedWithTheRest() throws IOException {
        try (Database database = Database.open(directory)) {
            database.migrate(
                    "notes", List.of("CREATE TABLE note (n BIGINT PRIMARY KEY, t TEXT NOT NULL) WITHOUT ROWID"));
            var random = new Random(1);
            for (int round = 0; round < 20; round++) {
                database.write(session -> {
                    for (int i = 0; i < 500; i++) {
                        session.update(
                                "INSERT INTO note (n, t) VALUES (?, ?)",
                                random.nextLong(),
                                "whisper " + random.nextLong());
                    }
                    return session.update("DELETE FROM note WHERE n % 3 <> 0");
                });
            }
            database.write(session -> session.update("UPDATE note SET t = 'aloud ' || n"));
            database.write(session -> session.update("DELETE FROM note WHERE n > 0"));

            database.erase(session -> session.update("DELETE FROM note WHERE n % 2 = 0"));

            assertThat(onDisk()).contains("aloud").doesNotContain("whisper");
        }
    }

    @Test
    void whatIsMadeIsItsOwnersAlone() throws IOException {
        Path made = directory.resolve("new");
        Path given = Files.createDirectory(
                directory.resolve("given"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));

        for (Path place : List.of(made, given)) {
            try (Database database = Database.open(place)) {
                database.migrate("notes", List.of("CREATE TABLE note (n BIGINT PRIMARY KEY)"));
                for (String file : List.of("parley.db", "parley.db-wal", "parley.db-shm")) {
                    assertThat(permissions(place.resolve(file))).as(file).isEqualTo("rw-------");
                }
            }
        }

        assertThat(permissions(made)).isEqualTo("rwx------");
        assertThat(permissions(given)).isEqualTo("rwxr-xr-x");
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
