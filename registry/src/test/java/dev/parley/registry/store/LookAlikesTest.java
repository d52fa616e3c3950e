package dev.parley.registry.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Cost of the search for look-alikes, which comes with each answer. */
final class LookAlikesTest {
    @TempDir
    private Path directory;

    @Test
    void entriesThatLookLikeAPageAreFoundByTheIndexOfLooks() throws Exception {
        try (Database database = Database.open(directory)) {
            RegistryTables.make(database);

            for (int looks : new int[] {1, 10, 100}) {
                Object[] values = new Object[looks];
                Arrays.fill(values, "echo");
                String plan = database.read(session -> String.join(
                        ", ",
                        session.list(
                                row -> DatabaseSession.text(row, 4),
                                "EXPLAIN QUERY PLAN " + LookAlikes.inUse(looks, 30),
                                values)));

                assertThat(plan).contains("USING INDEX registry_entry_by_look");
            }
        }
    }
}
