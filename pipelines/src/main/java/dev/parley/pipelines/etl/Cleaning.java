package dev.parley.pipelines.etl;

import dev.parley.pipelines.etl.DataTable.Column;
import dev.parley.pipelines.etl.DataTable.Rejected;
import dev.parley.pipelines.etl.DataTable.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Makes typed values of the cells of a table, and rejects rows with problems and rows that repeat others. */
final class Cleaning {
    private Cleaning() {}

    static DataTable of(DataTable table, TableCheck check) {
        List<Column> columns = IntStream.range(0, table.columns().size())
                .mapToObj(i -> new Column(
                        table.columns().get(i).name(),
                        ColumnType.named(check.columns().get(i).type()).orElse(ColumnType.TEXT)))
                .toList();
        var rejected = new ArrayList<>(table.rejected());
        var rows = new ArrayList<Row>();
        var seen = new HashMap<List<@Nullable Object>, Integer>();
        for (Row row : table.rows()) {
            List<String> problems = check.problems().get(row.line());
            if (problems != null) {
                rejected.add(new Rejected(row.line(), String.join("; ", problems)));
                continue;
            }
            List<@Nullable Object> values = values(columns, row);
            Integer first = seen.putIfAbsent(values, row.line());
            if (first != null) {
                rejected.add(new Rejected(row.line(), "the same as line " + first));
            } else {
                rows.add(new Row(row.line(), values));
            }
        }
        rejected.sort(java.util.Comparator.comparingInt(Rejected::line));
        return new DataTable(table.name(), columns, rows, rejected);
    }

    private static List<@Nullable Object> values(List<Column> columns, Row row) {
        var values = new ArrayList<@Nullable Object>();
        for (int i = 0; i < columns.size(); i++) {
            String cell = TableCheck.text(row.cells().get(i));
            values.add(ColumnType.isMissing(cell) ? null : columns.get(i).type().parse(cell));
        }
        return values;
    }

    static Map<String, Integer> counts(DataTable before, DataTable after) {
        return Map.of(
                "rowsRead", before.rows().size() + before.rejected().size(),
                "rowsKept", after.rows().size(),
                "rowsRejected", after.rejected().size());
    }
}
