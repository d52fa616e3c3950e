package dev.parley.pipelines.etl;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.pipelines.etl.TableCheck.Counts;
import dev.parley.pipelines.step.Charts;
import dev.parley.pipelines.step.Markdown;
import dev.parley.pipelines.step.PipelineAgent;
import dev.parley.pipelines.step.StepInput;
import dev.parley.pipelines.step.StepInput.Unusable;
import dev.parley.protocol.Part;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Five agents that make a database of a table, and report its quality. */
public final class EtlAgents {
    private static final String JSON = "application/json";
    private static final String SQLITE = "application/vnd.sqlite3";
    private static final int SHOWN = 20;

    private EtlAgents() {}

    /** The agents, in the order in which a table passes them. */
    public static List<Agent> all() {
        return List.of(
                PipelineAgent.computing(
                        "etl-read",
                        "read-table",
                        "Reads CSV or JSON lines, sent as a file or as the parameter text, into a typed table",
                        List.of(JSON),
                        (input, reply) -> reply.complete(Part.data(read(input).json()))),
                PipelineAgent.computing(
                        "etl-check",
                        "check-table",
                        "Checks the cells of a table against its types and the parameter rules",
                        List.of(JSON),
                        (input, reply) -> reply.complete(Part.data(
                                TableCheck.of(table(input), rules(input)).json()))),
                PipelineAgent.computing(
                        "etl-clean",
                        "clean-table",
                        "Keeps the rows without problems, with typed values, and rejects the others with their reasons",
                        List.of(JSON),
                        EtlAgents::clean),
                PipelineAgent.computing(
                        "etl-load",
                        "load-table",
                        "Writes a table and its rejected rows into a file of SQLite",
                        List.of(SQLITE, JSON),
                        EtlAgents::load),
                PipelineAgent.computing(
                        "etl-report",
                        "report-quality",
                        "Reports the quality of a table in Markdown, with a chart",
                        List.of("text/markdown", "image/png"),
                        EtlAgents::report));
    }

    private static DataTable read(StepInput input) {
        Optional<String> text = input.text("text");
        if (text.isPresent() == (input.files().size() == 1) || input.files().size() > 1) {
            throw new Unusable("input: " + input.files().size() + " files"
                    + (text.isPresent() ? " and a text" : "")
                    + " (expected: one file of CSV or JSON lines, or the parameter text)");
        }
        if (text.isPresent()) {
            return TableFiles.read(
                    input.text("name").orElse("table"), text.get().getBytes(UTF_8));
        }
        Request.File file = input.files().getFirst();
        String name = file.name() == null ? "table" : file.name();
        if (file.bytes() == null) {
            throw new Unusable(name + ": given by its address (expected: the file itself)");
        }
        return TableFiles.read(name, file.bytes());
    }

    private static DataTable table(StepInput input) {
        return DataTable.of(input.require("table", "etl-read"));
    }

    private static Map<String, Rule> rules(StepInput input) {
        var rules = new LinkedHashMap<String, Rule>();
        StepInput.object(input.parameters().get("rules"))
                .forEach((column, rule) -> rules.put(column, Rule.of(column, StepInput.object(rule))));
        return rules;
    }

    private static TableCheck check(StepInput input) {
        return TableCheck.of(input.require("checked", "etl-check"));
    }

    private static void clean(StepInput input, Reply reply) {
        DataTable table = table(input);
        TableCheck check = check(input);
        if (check.columns().size() != table.columns().size()) {
            throw new Unusable("inputs: the checks are of another table ("
                    + check.columns().size() + " columns, expected: "
                    + table.columns().size() + ")");
        }
        DataTable clean = Cleaning.of(table, check);
        var result = new LinkedHashMap<String, @Nullable Object>(clean.json());
        result.put("counts", Cleaning.counts(table, clean));
        reply.complete(Part.data(result));
    }

    private static void load(StepInput input, Reply reply) throws SQLException, IOException {
        DataTable table = table(input);
        reply.complete(
                Part.data(Map.of(
                        "loaded",
                        table.name(),
                        "rowsLoaded",
                        table.rows().size(),
                        "rowsRejected",
                        table.rejected().size())),
                Part.file(table.name() + ".sqlite", SQLITE, SqliteExport.of(table)));
    }

    private static void report(StepInput input, Reply reply) {
        TableCheck check = check(input);
        Map<String, @Nullable Object> cleaned = input.require("counts", "etl-clean");
        Map<String, @Nullable Object> counts = StepInput.object(cleaned.get("counts"));
        DataTable table = DataTable.of(cleaned);
        var report = new Markdown()
                .heading(1, "Quality of " + table.name())
                .line("%s rows read, %s loaded, %s rejected."
                        .formatted(counts.get("rowsRead"), counts.get("rowsKept"), counts.get("rowsRejected")));
        report.heading(2, "Columns").columns("column", "type", "valid", "missing", "invalid");
        for (Counts column : check.columns()) {
            report.row(column.column(), column.type(), column.valid(), column.missing(), column.invalid());
        }
        report.heading(2, "Rejected rows");
        if (table.rejected().isEmpty()) {
            report.line("None.");
        } else {
            report.columns("line", "reason");
            table.rejected().stream().limit(SHOWN).forEach(row -> report.row(row.line(), row.reason()));
            if (table.rejected().size() > SHOWN) {
                report.line("").line("… and " + (table.rejected().size() - SHOWN) + " more in the table `rejected`.");
            }
        }
        Optional<byte[]> chart = chart(table.name(), check.columns());
        chart.ifPresent(png -> report.line("").line("![Cells by column](quality.png)"));
        var parts = new ArrayList<Part>();
        parts.add(new Part.Text(report.toString(), "quality.md", "text/markdown", Map.of()));
        chart.ifPresent(png -> parts.add(Part.file("quality.png", "image/png", png)));
        reply.complete(parts.toArray(Part[]::new));
    }

    private static Optional<byte[]> chart(String title, List<Counts> columns) {
        var series = new LinkedHashMap<String, List<Integer>>();
        series.put("valid", columns.stream().map(Counts::valid).toList());
        series.put("missing", columns.stream().map(Counts::missing).toList());
        series.put("invalid", columns.stream().map(Counts::invalid).toList());
        return Charts.stackedBars(
                title, "cells", columns.stream().map(Counts::column).toList(), series);
    }
}
