package dev.parley.agents;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Statistics of a column.
 *
 * @param count how many rows hold a value
 * @param missing how many hold none; see {@link CellType#isMissing}
 * @param numbers set if {@code type} is a number
 * @param top the most frequent values, most frequent first; empty if {@code type} is a number
 */
record ColumnSummary(
        String name,
        CellType type,
        int count,
        int missing,
        int distinct,
        @Nullable NumberSummary numbers,
        List<Frequent> top) {
    static final int TOP = 10;

    /** A value and how many rows hold it. */
    record Frequent(String value, int times) {}

    /** @param decimalComma whether {@code 1,5} is a number too */
    static ColumnSummary of(Table.Column column, boolean decimalComma) {
        List<String> values = column.cells().stream()
                .map(String::strip)
                .filter(cell -> !CellType.isMissing(cell))
                .toList();
        int missing = column.cells().size() - values.size();
        List<String> plain = decimalComma
                ? values.stream().map(value -> value.replace(',', '.')).toList()
                : values;
        CellType type = CellType.guess(plain);
        if (type.isNumber()) {
            var numbers = NumberSummary.ofSorted(
                    plain.stream().mapToDouble(Double::parseDouble).sorted().toArray());
            return new ColumnSummary(
                    column.name(), type, values.size(), missing, numbers.distinct(), numbers, List.of());
        }
        var times = new HashMap<String, Integer>();
        values.forEach(value -> times.merge(value, 1, Integer::sum));
        return new ColumnSummary(column.name(), type, values.size(), missing, times.size(), null, top(times));
    }

    private static List<Frequent> top(Map<String, Integer> times) {
        return times.entrySet().stream()
                .map(entry -> new Frequent(entry.getKey(), entry.getValue()))
                // Equally frequent values in alphabetical order, so that the same table gives the same answer.
                .sorted(Comparator.comparingInt(Frequent::times).reversed().thenComparing(Frequent::value))
                .limit(TOP)
                .toList();
    }

    /** The type as people and programs read it. */
    String typeName() {
        return type.name().toLowerCase(Locale.ROOT);
    }

    /** The members of the column's JSON object. */
    Map<String, @Nullable Object> asMap() {
        var map = new LinkedHashMap<String, @Nullable Object>();
        map.put("name", name);
        map.put("type", typeName());
        map.put("count", count);
        map.put("missing", missing);
        map.put("distinct", distinct);
        if (numbers == null) {
            map.put("top", top.stream().map(ColumnSummary::asMap).toList());
        } else {
            map.putAll(numbers.asMap());
        }
        return map;
    }

    private static Map<String, @Nullable Object> asMap(Frequent frequent) {
        var map = new LinkedHashMap<String, @Nullable Object>();
        map.put("value", frequent.value());
        map.put("count", frequent.times());
        return map;
    }
}
