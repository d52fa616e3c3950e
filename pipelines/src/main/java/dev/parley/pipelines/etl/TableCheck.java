package dev.parley.pipelines.etl;

import dev.parley.pipelines.etl.DataTable.Column;
import dev.parley.pipelines.etl.DataTable.Row;
import dev.parley.pipelines.step.StepInput;
import dev.parley.pipelines.step.StepInput.Unusable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Result of the checks of a table.
 *
 * @param problems by the number of the line
 * @param columns counts of each column, in order
 */
record TableCheck(Map<Integer, List<String>> problems, List<Counts> columns) {
    /** Counts of the cells of a column. */
    record Counts(String column, String type, int valid, int missing, int invalid) {}

    static TableCheck of(DataTable table, Map<String, Rule> rules) {
        rules.keySet().stream()
                .filter(name -> table.columns().stream()
                        .noneMatch(column -> column.name().equals(name)))
                .findFirst()
                .ifPresent(name -> {
                    throw new Unusable("parameters.rules." + name + ": no such column (expected: "
                            + table.columns().stream().map(Column::name).collect(Collectors.joining(", ")) + ")");
                });
        var problems = new LinkedHashMap<Integer, List<String>>();
        var counts = new ArrayList<Counts>();
        for (int i = 0; i < table.columns().size(); i++) {
            Column column = table.columns().get(i);
            counts.add(check(table, i, column, rules.getOrDefault(column.name(), Rule.NONE), problems));
        }
        return new TableCheck(problems, counts);
    }

    private static Counts check(
            DataTable table, int index, Column column, Rule rule, Map<Integer, List<String>> problems) {
        int missing = 0;
        int invalid = 0;
        var seen = new HashMap<String, Integer>();
        for (Row row : table.rows()) {
            String cell = text(row.cells().get(index));
            var found = new ArrayList<String>();
            if (ColumnType.isMissing(cell)) {
                missing++;
                if (rule.required()) {
                    found.add("missing");
                }
            } else {
                found.addAll(rule.problems(column.type(), cell));
                Integer first = rule.unique() ? seen.putIfAbsent(cell, row.line()) : null;
                if (first != null) {
                    found.add("repeats line " + first);
                }
                invalid += found.isEmpty() ? 0 : 1;
            }
            found.forEach(problem -> problems.computeIfAbsent(row.line(), line -> new ArrayList<>())
                    .add(column.name() + ": " + problem));
        }
        ColumnType type = rule.type() == null ? column.type() : rule.type();
        return new Counts(column.name(), type.word(), table.rows().size() - missing - invalid, missing, invalid);
    }

    static String text(@Nullable Object cell) {
        return cell == null ? "" : String.valueOf(cell).strip();
    }

    Map<String, @Nullable Object> json() {
        var json = new LinkedHashMap<String, @Nullable Object>();
        json.put(
                "problems",
                problems.entrySet().stream()
                        .map(entry -> Map.of("line", entry.getKey(), "problems", entry.getValue()))
                        .toList());
        json.put(
                "checked",
                columns.stream()
                        .map(column -> Map.of(
                                "column", column.column(),
                                "type", column.type(),
                                "valid", column.valid(),
                                "missing", column.missing(),
                                "invalid", column.invalid()))
                        .toList());
        return json;
    }

    static TableCheck of(Map<String, @Nullable Object> json) {
        var problems = new LinkedHashMap<Integer, List<String>>();
        StepInput.array(json.get("problems")).stream()
                .map(StepInput::object)
                .forEach(row -> problems.put(
                        number(row.get("line")),
                        StepInput.array(row.get("problems")).stream()
                                .map(String::valueOf)
                                .toList()));
        List<Counts> columns = StepInput.array(json.get("checked")).stream()
                .map(StepInput::object)
                .map(column -> new Counts(
                        String.valueOf(column.get("column")),
                        String.valueOf(column.get("type")),
                        number(column.get("valid")),
                        number(column.get("missing")),
                        number(column.get("invalid"))))
                .toList();
        return new TableCheck(problems, columns);
    }

    private static int number(@Nullable Object value) {
        return value instanceof Number number ? number.intValue() : 0;
    }
}
