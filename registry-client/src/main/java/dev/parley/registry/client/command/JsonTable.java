package dev.parley.registry.client.command;

import dev.parley.command.SafeText;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Rows of JSON objects as a table. */
record JsonTable(List<String> columns, List<Map<?, ?>> rows) {
    private static final String NONE = "-";

    /** First characters of formulas in spreadsheets. */
    private static final String FORMULA = "=+-@\t\r\n＝＋－＠";

    /** A table with all members of the rows, in the order of the first row that has them all. */
    static JsonTable of(List<?> objects) {
        List<Map<?, ?>> rows =
                objects.stream().<Map<?, ?>>map(row -> (Map<?, ?>) row).toList();
        Set<String> columns = new LinkedHashSet<>();
        rows.stream()
                .sorted((one, other) -> other.size() - one.size())
                .forEach(row -> row.keySet().forEach(name -> columns.add(name.toString())));
        return new JsonTable(List.copyOf(columns), rows);
    }

    /** RFC 4180. A text that a spreadsheet would take for a formula begins with an apostrophe. */
    String csv() {
        var csv = new StringBuilder(line(columns.stream().map(JsonTable::quoted).toList()));
        rows.forEach(row -> csv.append(line(columns.stream()
                .map(name -> row.get(name) instanceof Number number ? number.toString() : quoted(text(row.get(name))))
                .toList())));
        return csv.toString();
    }

    private static String line(List<String> values) {
        return String.join(",", values) + "\r\n";
    }

    private static String quoted(String text) {
        String safe = !text.isEmpty() && FORMULA.indexOf(text.charAt(0)) >= 0 ? "'" + text : text;
        return safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r')
                ? '"' + safe.replace("\"", "\"\"") + '"'
                : safe;
    }

    /** Columns of equal width; numbers are aligned to the right. */
    String text() {
        var lines = new ArrayList<List<String>>();
        lines.add(columns);
        rows.forEach(row -> lines.add(columns.stream()
                .map(name -> {
                    String text = SafeText.oneLine(text(row.get(name)));
                    return text.isEmpty() ? NONE : text;
                })
                .toList()));
        var page = new StringBuilder();
        for (List<String> line : lines) {
            var padded = new ArrayList<String>();
            for (int i = 0; i < line.size(); i++) {
                int column = i;
                int width = lines.stream()
                        .mapToInt(each -> each.get(column).length())
                        .max()
                        .orElse(0);
                boolean number = rows.stream().anyMatch(row -> row.get(columns.get(column)) instanceof Number);
                String blanks = " ".repeat(width - line.get(i).length());
                padded.add(number ? blanks + line.get(i) : line.get(i) + blanks);
            }
            page.append(String.join("  ", padded).stripTrailing()).append('\n');
        }
        return page.toString();
    }

    private static String text(@Nullable Object value) {
        return switch (value) {
            case null -> "";
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .map(each -> each.getKey() + ":" + text(each.getValue()))
                        .collect(Collectors.joining(" "));
            case List<?> list -> list.stream().map(JsonTable::text).collect(Collectors.joining(" "));
            default -> value.toString();
        };
    }
}
