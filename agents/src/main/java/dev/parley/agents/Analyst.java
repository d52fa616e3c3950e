package dev.parley.agents;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Part;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Describes a CSV file: the types of its columns, the distribution of their values, and a chart of it. */
final class Analyst implements AgentHandler {
    private static final System.Logger LOG = System.getLogger("dev.parley.agents");

    private final TableReader reader;
    private final Function<Chart, byte[]> painter;

    private Analyst(TableReader.Limits limits, Function<Chart, byte[]> painter) {
        this.reader = new TableReader(limits);
        this.painter = painter;
    }

    static Agent agent() {
        // A method reference would load the painter now, and AWT with it.
        return agent(TableReader.Limits.DEFAULT, chart -> ChartPainter.png(chart));
    }

    static Agent agent(TableReader.Limits limits, Function<Chart, byte[]> painter) {
        return Agent.named("analyst", "Describes a CSV file by a summary, statistics and a chart")
                .inputModes(
                        "text/csv",
                        "text/plain",
                        "text/tab-separated-values",
                        "application/csv",
                        "application/vnd.ms-excel",
                        "application/octet-stream")
                .outputModes("text/markdown", "application/json", "image/png")
                .skill(new Skill(
                        "describe",
                        "Describe a table",
                        "Reads a CSV file, sent as a file or as text, whose first row is the header; returns a summary as"
                                + " Markdown, the statistics of each column as JSON and a chart as PNG",
                        List.of("csv", "statistics", "chart", "demo"),
                        List.of("Describe this file", "city,population\nOslo,709037\nBergen,291940"),
                        List.of(),
                        List.of(),
                        List.of()))
                .resumable(true)
                // A table takes some 200 MB at most while it is looked at; the others wait.
                .concurrency(4)
                .handle(new Analyst(limits, painter));
    }

    @Override
    public void handle(Request request, Reply reply) throws InterruptedException {
        switch (Source.of(request)) {
            case Source.Nothing nothing -> reply.askForInput(nothing.question());
            case Source.Refused refused -> reply.reject(refused.reason());
            case Source.Csv csv -> {
                try {
                    analyse(csv, reply);
                } catch (UnreadableTable e) {
                    reply.fail(csv.name() + ": " + e.getMessage());
                }
            }
        }
    }

    private void analyse(Source.Csv csv, Reply reply) throws InterruptedException {
        var steps = new Steps(reply);
        steps.reached(0, "Reading " + csv.name());
        Table table = reader.read(csv.bytes(), share -> steps.reached((int) (share * 50), "Reading " + csv.name()));

        var columns = new ArrayList<ColumnSummary>();
        for (Table.Column column : table.columns()) {
            if (Thread.interrupted()) {
                throw new InterruptedException("measuring a table");
            }
            columns.add(ColumnSummary.of(column, table.separator() != ','));
            steps.reached(50 + 40 * columns.size() / table.columns().size(), "Measured " + column.name());
        }

        reply.artifact(summary(csv.name(), table, columns));
        reply.artifact(statistics(table, columns));
        steps.reached(95, "Drawing");
        draw(Chart.of(csv.name(), table, columns), reply);
        reply.complete();
    }

    private static Artifact summary(String name, Table table, List<ColumnSummary> columns) {
        String text = TableReport.of(name, table, columns);
        return Artifact.named("summary", "Summary", new Part.Text(text, "summary.md", "text/markdown", Map.of()));
    }

    private static Artifact statistics(Table table, List<ColumnSummary> columns) {
        var data = new LinkedHashMap<String, @Nullable Object>();
        data.put("rows", table.rows());
        data.put("columns", columns.stream().map(ColumnSummary::asMap).toList());
        return Artifact.named(
                "statistics", "Statistics", new Part.Data(data, "statistics.json", "application/json", Map.of()));
    }

    private void draw(Chart chart, Reply reply) {
        byte[] png;
        try {
            png = painter.apply(chart);
        } catch (LinkageError | InternalError e) {
            // So the JDK says that the machine has no fonts or no library to draw them; the rest is worth having.
            LOG.log(System.Logger.Level.WARNING, "cannot draw: fonts are missing on this machine", e);
            reply.progress(99, "The chart is left out: this machine has no fonts to draw it with");
            return;
        }
        reply.artifact(Artifact.named("chart", "Chart", Part.file("chart.png", "image/png", png)));
    }

    /** Input of an analysis. */
    private sealed interface Source {
        record Csv(String name, byte[] bytes) implements Source {}

        record Nothing(String question) implements Source {}

        record Refused(String reason) implements Source {}

        static Source of(Request request) {
            List<Request.File> files = request.files();
            if (files.size() > 1) {
                return new Refused("files: " + files.size() + " (expected: one CSV file)");
            }
            if (files.size() == 1) {
                Request.File file = files.getFirst();
                String name = file.name() == null ? "table.csv" : Texts.shorten(file.name(), 80);
                return file.bytes() == null
                        ? new Refused(name + ": given by its address (expected: the file itself; nothing is fetched)")
                        : new Csv(name, file.bytes());
            }
            // One line is not a table, so the message is a greeting.
            String text = request.text().strip();
            return text.indexOf('\n') < 0 && text.indexOf('\r') < 0
                    ? new Nothing("Which table? Send a CSV file, or its text, with a header and at least one row.")
                    : new Csv("table.csv", text.getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Tells the progress in steps of ten, so that a long file does not mean a long log. */
    private static final class Steps {
        private final Reply reply;
        private int next;

        Steps(Reply reply) {
            this.reply = reply;
        }

        void reached(int percent, String note) {
            if (percent >= next) {
                reply.progress(percent, note);
                next = percent / 10 * 10 + 10;
            }
        }
    }
}
