package dev.parley.interop;

import static java.util.stream.Collectors.joining;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The results as a table in Markdown: a row for each operation, a column for each client and binding. */
final class ResultTable {
    private static final Pattern IN_DOCUMENT =
            Pattern.compile("(<!-- results -->\n).*(<!-- end of results -->)", Pattern.DOTALL);

    private ResultTable() {}

    static String of(List<Check> checks) {
        List<String> columns = checks.stream().map(Check::column).distinct().toList();
        Stream<String> rows = checks.stream()
                .map(Check::operation)
                .distinct()
                .map(operation -> row(operation, columns.stream().map(column -> cell(checks, operation, column))));
        return Stream.concat(
                        Stream.of(
                                row("operation", columns.stream()),
                                row("---", columns.stream().map(column -> "---"))),
                        rows)
                .collect(joining());
    }

    /** Returns the document with this table in the place of the one it has. */
    static String replaceIn(String document, String table) {
        return IN_DOCUMENT.matcher(document).replaceFirst("$1" + Matcher.quoteReplacement(table) + "$2");
    }

    private static String cell(List<Check> checks, String operation, String column) {
        return checks.stream()
                .filter(check ->
                        check.operation().equals(operation) && check.column().equals(column))
                .map(check -> check.ok() ? "yes" : "**no**")
                .findFirst()
                .orElse("not tried");
    }

    private static String row(String first, Stream<String> others) {
        return Stream.concat(Stream.of(first), others).collect(joining(" | ", "| ", " |\n"));
    }
}
