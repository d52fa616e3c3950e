package dev.parley.agents;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.parley.engine.Agent;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.testkit.LocalAgent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class AnalystTest {
    private static final String CSV = "city,population\nOslo,709037\nBergen,291940\nOslo,1\n";

    private final LocalAgent analyst = LocalAgent.of(Analyst.agent());

    @AfterEach
    void close() {
        analyst.close();
    }

    @Test
    void aFileBecomesASummaryStatisticsAndAChart() {
        Task task = analyst.send(file("cities.csv", CSV));

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.artifacts()).extracting(Artifact::artifactId).containsExactly("summary", "statistics", "chart");
        assertThat(part(task, 0)).asInstanceOf(type(Part.Text.class)).satisfies(summary -> {
            assertThat(summary.mediaType()).isEqualTo("text/markdown");
            assertThat(summary.text())
                    .startsWith("# cities.csv\n")
                    .contains("3 rows, 2 columns, separated by commas.")
                    .contains("| city | text | 3 | 0 | 2 |")
                    .contains("| city | Oslo (2), Bergen (1) |");
        });
        assertThat(part(task, 1)).asInstanceOf(type(Part.Data.class)).satisfies(statistics -> {
            assertThat(statistics.mediaType()).isEqualTo("application/json");
            assertThat(statistics.data())
                    .asInstanceOf(MAP)
                    .containsEntry("rows", 3)
                    .extractingByKey("columns")
                    .asInstanceOf(LIST)
                    .element(1)
                    .asInstanceOf(MAP)
                    .containsEntry("name", "population")
                    .containsEntry("max", 709037L);
        });
        assertThat(part(task, 2)).asInstanceOf(type(Part.Raw.class)).satisfies(chart -> {
            assertThat(chart.mediaType()).isEqualTo("image/png");
            assertThat(chart.raw()).startsWith(0x89, 'P', 'N', 'G');
        });
    }

    @Test
    void textWillDoInsteadOfAFile() {
        Task task = analyst.send(Part.text("a;b\n1,5;x\n2,5;y"));

        assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
        assertThat(task.text()).contains("separated by semicolons", "| a | number | 2 | 0 | 2 |");
    }

    @Test
    void theProgressIsToldInStepsOfTenAtLeast() throws InterruptedException {
        String csv = "n\n" + "1\n".repeat(5_000);

        List<TaskEvent> events = analyst.events(file("long.csv", csv));

        List<Integer> progress = events.stream()
                .filter(TaskStatusUpdateEvent.class::isInstance)
                .map(event -> ((TaskStatusUpdateEvent) event).metadata().get("progress"))
                .filter(Integer.class::isInstance)
                .map(Integer.class::cast)
                .toList();
        assertThat(progress).isSorted().startsWith(0).hasSizeBetween(5, 12);
    }

    @Test
    void aMalformedTableFailsWithItsRowAndColumn() {
        Task task = analyst.send(file("bad.csv", "a,b\n1,2\n3\n"));

        assertThat(task.state()).isEqualTo(TaskState.FAILED);
        assertThat(note(task))
                .isEqualTo("bad.csv: row 2 (line 3), column 2 \"b\":"
                        + " the row has 1 fields (expected: 2, as in the header)");
        assertThat(task.artifacts()).isEmpty();
    }

    @Test
    void aMessageWithoutATableIsAskedForOne() {
        Task asked = analyst.send(Part.text("hello"));
        assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);

        Task done = analyst.proceed(asked, CSV);

        assertThat(done.state()).isEqualTo(TaskState.COMPLETED);
    }

    @Test
    void anAddressIsNotFetched() {
        Task task = analyst.send(Part.link("http://127.0.0.1/secret.csv", "secret.csv", "text/csv"));

        assertThat(task.state()).isEqualTo(TaskState.REJECTED);
        assertThat(note(task)).startsWith("secret.csv: given by its address");
    }

    @Test
    void severalFilesAtOnceAreRejected() {
        Task task = analyst.send(file("a.csv", CSV), file("b.csv", CSV));

        assertThat(task.state()).isEqualTo(TaskState.REJECTED);
        assertThat(note(task)).isEqualTo("files: 2 (expected: one CSV file)");
    }

    @Test
    void whatATableSaysCannotBreakOutOfTheSummary() {
        Task task = analyst.send(file("a|b.csv", "x|<b>,y\n\"1\n# 2\",z\n"));

        assertThat(task.text())
                .startsWith("# a\\|b.csv\n")
                .contains("x\\|\\<b\\>")
                .doesNotContain("\n# 2");
    }

    @Test
    void withoutFontsTheChartAloneIsMissing() {
        Agent agent = Analyst.agent(TableReader.Limits.DEFAULT, chart -> {
            throw new InternalError("no fonts");
        });
        try (var fontless = LocalAgent.of(agent)) {
            Task task = fontless.send(file("cities.csv", CSV));

            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(task.artifacts()).extracting(Artifact::artifactId).containsExactly("summary", "statistics");
        }
    }

    private static Part file(String name, String csv) {
        return new Part.Raw(csv.getBytes(StandardCharsets.UTF_8), name, "text/csv", Map.of());
    }

    private static Part part(Task task, int artifact) {
        return task.artifacts().get(artifact).parts().getFirst();
    }

    private static String note(Task task) {
        return requireNonNull(task.status().message()).text();
    }
}
