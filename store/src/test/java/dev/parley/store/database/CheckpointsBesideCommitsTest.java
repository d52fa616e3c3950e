package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.files.DataFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints write to the database file beside commits, which compare its content with the one that the last checkpoint has left. */
@Timeout(120)
@Tag("heavy")
final class CheckpointsBesideCommitsTest {
    private static final int COMMITS = 4_000;

    @TempDir
    private Path directory = Path.of("");

    @Test
    void ownCheckpointsAreNotTakenForTheWritesOfOtherPrograms() throws Exception {
        var done = new AtomicBoolean();
        try (Database database = Database.open(directory);
                ExecutorService erasing = Executors.newVirtualThreadPerTaskExecutor()) {
            database.migrate("notes", List.of("CREATE TABLE note (n BIGINT PRIMARY KEY, t TEXT NOT NULL)"));
            var erasures = erasing.submit(() -> {
                while (!done.get()) {
                    database.erase(session -> session.update("DELETE FROM note WHERE n % 10 = 0"));
                    assertThat(database.outage()).isEmpty();
                }
            });

            for (int i = 0; i < COMMITS; i++) {
                int number = i;
                database.write(
                        session -> session.update("INSERT INTO note (n, t) VALUES (?, ?)", number, "x".repeat(3_000)));
            }
            done.set(true);
            erasures.get();

            assertThat(database.testWriting()).isEmpty();
            assertThat(DataFiles.problems(directory)).isEmpty();
            long left = database.read(session -> session.number("SELECT count(*) FROM note WHERE n % 10 > 0"));
            assertThat(left).isEqualTo(COMMITS / 10 * 9);
        }
    }
}
