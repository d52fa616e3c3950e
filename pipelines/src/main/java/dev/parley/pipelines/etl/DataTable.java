package dev.parley.pipelines.etl;

import dev.parley.pipelines.step.StepInput;
import dev.parley.pipelines.step.StepInput.Unusable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A table between two steps.
 *
 * @param rejected rows that are not part of it, with their reasons
 */
record DataTable(String name, List<Column> columns, List<Row> rows, List<Rejected> rejected) {
    record Column(String name, ColumnType type) {}

    /**
     * A row.
     *
     * @param line in the file, from 1
     * @param cells one for each column; null if it is missing
     */
    record Row(int line, List<@Nullable Object> cells) {}

    record Rejected(int line, String reason) {}

    Map<String, @Nullable Object> json() {
        var json = new LinkedHashMap<String, @Nullable Object>();
        json.put("table", name);
        json.put(
                "columns",
                columns.stream()
                        .map(column -> Map.of(
                                "name", column.name(), "type", column.type().word()))
                        .toList());
        json.put(
                "rows",
                rows.stream()
                        .map(row -> {
                            var cells = new ArrayList<@Nullable Object>();
                            cells.add(row.line());
                            cells.addAll(row.cells());
                            return cells;
                        })
                        .toList());
        json.put(
                "rejected",
                rejected.stream()
                        .map(row -> Map.of("line", row.line(), "reason", row.reason()))
                        .toList());
        return json;
    }

    /** @throws Unusable if it is not a table */
    static DataTable of(Map<String, @Nullable Object> json) {
        List<Column> columns = StepInput.array(json.get("columns")).stream()
                .map(StepInput::object)
                .map(column -> new Column(
                        String.valueOf(column.get("name")),
                        ColumnType.named(String.valueOf(column.get("type")))
                                .orElseThrow(() -> malformed(
                                        "columns", column.get("type") + " (expected: " + ColumnType.words() + ")"))))
                .toList();
        List<Row> rows = StepInput.array(json.get("rows")).stream()
                .map(StepInput::array)
                .map(row -> {
                    if (row.size() != columns.size() + 1 || !(row.getFirst() instanceof Number line)) {
                        throw malformed(
                                "rows",
                                "a row of " + row.size() + " values (expected: the number of its line, "
                                        + columns.size() + " values)");
                    }
                    return new Row(line.intValue(), row.subList(1, row.size()));
                })
                .toList();
        List<Rejected> rejected = StepInput.array(json.get("rejected")).stream()
                .map(StepInput::object)
                .map(row -> new Rejected(
                        row.get("line") instanceof Number line ? line.intValue() : 0,
                        String.valueOf(row.get("reason"))))
                .toList();
        return new DataTable(String.valueOf(json.get("table")), columns, rows, rejected);
    }

    private static Unusable malformed(String member, String problem) {
        return new Unusable("table." + member + ": " + problem);
    }
}
