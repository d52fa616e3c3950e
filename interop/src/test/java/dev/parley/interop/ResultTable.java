package dev.parley.interop;

import static java.util.stream.Collectors.joining;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The results in Markdown: a table for each dialect, with a row for each operation, a column for each client and binding. */
final class ResultTable {
    private ResultTable() {}

    static String of(List<Check> checks) {
        return checks.stream()
                .map(Check::dialect)
                .distinct()
                .map(dialect -> "\n### " + dialect + "\n\n"
                        + table(checks.stream()
                                .filter(check -> check.dialect().equals(dialect))
                                .toList()))
                .collect(joining("", "", "\n"));
    }

    /** Returns the document with these tables in the place of those that it has under that name. */
    static String replaceIn(String document, String name, String tables) {
        var place = Pattern.compile("(<!-- %1$s -->\n).*(<!-- end of %1$s -->)".formatted(name), Pattern.DOTALL);
        return place.matcher(document).replaceFirst("$1" + Matcher.quoteReplacement(tables) + "$2");
    }

    /** One table. */
    static String table(List<Check> checks) {
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

    private static String cell(List<Check> checks, String operation, String column) {
        return checks.stream()
                .filter(check ->
                        check.operation().equals(operation) && check.column().equals(column))
                .map(check -> check.result() == Check.Result.FAILED
                        ? "**failed**"
                        : check.result().word())
                .findFirst()
                .orElse("not tried");
    }

    private static String row(String first, Stream<String> others) {
        return Stream.concat(Stream.of(first), others).collect(joining(" | ", "| ", " |\n"));
    }
}
