package dev.parley.agents;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Type of the values of a column: the first constant that matches all of them. */
enum CellType {
    /** Whole numbers. Those with leading zeros are codes, so they are text. */
    INTEGER("[+-]?(0|[1-9][0-9]{0,17})"),
    /** Numbers, with or without fraction and exponent. */
    NUMBER("[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?"),
    /** {@code true} and {@code false}, or {@code yes} and {@code no}. */
    BOOLEAN("(?i)true|false|yes|no"),
    /** ISO dates, with or without a time of day. */
    DATE("[0-9]{4}-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?)?"
            + "(Z|[+-][0-9]{2}:?[0-9]{2})?"),
    /** Anything. */
    TEXT("(?s).*"),
    /** There are no values. */
    EMPTY("(?!)");

    private static final Set<String> MISSING = Set.of("", "na", "n/a", "nan", "null", "none", "-");

    private final Pattern pattern;

    CellType(String regex) {
        this.pattern = Pattern.compile(regex);
    }

    /** Whether a cell holds no value: it is empty or one of the usual words for that. */
    static boolean isMissing(String cell) {
        return cell.length() <= 4 && MISSING.contains(cell.toLowerCase(Locale.ROOT));
    }

    static CellType guess(List<String> values) {
        if (values.isEmpty()) {
            return EMPTY;
        }
        for (CellType type : values()) {
            if (values.stream().allMatch(type.pattern.asMatchPredicate())) {
                // An exponent can exceed the range of a double; such a column has no statistics.
                return type.isNumber() && !areFinite(values) ? TEXT : type;
            }
        }
        return TEXT;
    }

    private static boolean areFinite(List<String> numbers) {
        return numbers.stream().mapToDouble(Double::parseDouble).allMatch(Double::isFinite);
    }

    boolean isNumber() {
        return this == INTEGER || this == NUMBER;
    }
}
