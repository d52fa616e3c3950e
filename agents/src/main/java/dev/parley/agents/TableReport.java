package dev.parley.agents;

import static java.util.Objects.requireNonNull;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Report about a table, in Markdown. */
final class TableReport {
    private final StringBuilder text = new StringBuilder();

    private TableReport() {}

    static String of(String title, Table table, List<ColumnSummary> columns) {
        var report = new TableReport();
        report.line("# " + cell(title, 80));
        report.line("");
        report.line("%,d rows, %d columns, separated by %s."
                .formatted(table.rows(), columns.size(), separatorName(table.separator())));
        report.overview(columns);
        report.numbers(
                columns.stream().filter(column -> column.numbers() != null).toList());
        report.frequent(
                columns.stream().filter(column -> !column.top().isEmpty()).toList());
        return report.text.toString();
    }

    private void overview(List<ColumnSummary> columns) {
        heading("Columns", "column", "type", "values", "missing", "distinct");
        for (ColumnSummary column : columns) {
            row(
                    cell(column.name(), 40),
                    column.typeName(),
                    "" + column.count(),
                    "" + column.missing(),
                    "" + column.distinct());
        }
    }

    private void numbers(List<ColumnSummary> columns) {
        if (columns.isEmpty()) {
            return;
        }
        heading("Numbers", "column", "min", "25 %", "median", "75 %", "max", "mean", "std. dev.");
        for (ColumnSummary column : columns) {
            NumberSummary n = requireNonNull(column.numbers());
            row(
                    cell(column.name(), 40),
                    number(n.min()),
                    number(n.quantile(0.25)),
                    number(n.median()),
                    number(n.quantile(0.75)),
                    number(n.max()),
                    number(n.mean()),
                    number(n.stddev()));
        }
    }

    private void frequent(List<ColumnSummary> columns) {
        if (columns.isEmpty()) {
            return;
        }
        heading("Most frequent values", "column", "values");
        for (ColumnSummary column : columns) {
            row(
                    cell(column.name(), 40),
                    column.top().stream()
                            .limit(5)
                            .map(frequent -> cell(frequent.value(), 40) + " (" + frequent.times() + ")")
                            .collect(Collectors.joining(", ")));
        }
    }

    private void heading(String title, String... columns) {
        line("");
        line("## " + title);
        line("");
        row(columns);
        line("|" + " --- |".repeat(columns.length));
    }

    private void row(String... cells) {
        line("| " + String.join(" | ", cells) + " |");
    }

    private void line(String line) {
        text.append(line).append('\n');
    }

    /** Foreign text that cannot break out of its cell, nor mean anything in Markdown. */
    private static String cell(String value, int length) {
        return Texts.shorten(value, length).replaceAll("([\\\\`*_\\[\\]<>|#])", "\\\\$1");
    }

    /** A number with at most six digits that matter. */
    static String number(double value) {
        if (!Double.isFinite(value)) {
            return "–";
        }
        double size = Math.abs(value);
        if (size != 0 && (size < 1e-4 || size >= 1e12)) {
            return String.format(Locale.ROOT, "%.3g", value);
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(size >= 1e6 ? 12 : 6));
        return rounded.stripTrailingZeros().toPlainString();
    }

    private static String separatorName(char separator) {
        return switch (separator) {
            case ',' -> "commas";
            case ';' -> "semicolons";
            case '\t' -> "tabs";
            default -> "\"" + separator + "\"";
        };
    }
}
