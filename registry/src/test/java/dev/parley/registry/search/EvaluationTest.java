package dev.parley.registry.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.registry.search.Evaluation.Figures;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The quality of the search does not fall below that of {@code docs/search.md}. With {@code -Devaluation=all} the tables are printed.
 */
@Timeout(300)
@Tag("heavy")
final class EvaluationTest {
    @TempDir
    private Path directory;

    @Test
    @DisplayName("ONE39 judged queries find their agents, and half of them were never used to tune the search")
    void sqlite() throws Exception {
        try (Database database = Database.open(directory)) {
            check(database, "SQLite", 0.85);
        }
    }

    @Test
    @DisplayName("judged queries find their agents on PostgreSQL, too")
    void postgresql() throws Exception {
        try (Database database = Database.open(PostgresqlServer.schema())) {
            check(database, "PostgreSQL", 0.6);
        }
    }

    private static void check(Database database, String name, double least) throws Exception {
        try (var evaluation = new Evaluation(database)) {
            String shown = System.getProperty("evaluation", "");
            if (!shown.isEmpty()) {
                System.out.println(name + ", tuned\n" + evaluation.table(false, !shown.equals("all")));
                if (shown.equals("all")) {
                    System.out.println(name + ", held out\n" + evaluation.table(true, false));
                }
            }
            List<Figures> all =
                    Evaluation.queries().stream().map(evaluation::figures).toList();
            List<Figures> met = all.stream()
                    .filter(each -> !each.query().grades().isEmpty())
                    .toList();
            assertThat(met.stream().mapToDouble(Figures::ndcg).average().orElse(0))
                    .isGreaterThan(least);
            assertThat(all.stream()
                            .filter(each -> each.query().grades().isEmpty()
                                    && !each.found().isEmpty())
                            .count())
                    .isLessThan(24);
        }
    }
}
