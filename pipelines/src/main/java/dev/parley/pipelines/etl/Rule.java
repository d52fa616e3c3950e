package dev.parley.pipelines.etl;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.parley.pipelines.step.StepInput;
import dev.parley.pipelines.step.StepInput.Unusable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rule for the values of a column.
 *
 * @param type null for the type that was found
 * @param pattern that whole values match
 * @param oneOf allowed values; empty for all
 */
record Rule(
        @Nullable ColumnType type,
        boolean required,
        boolean unique,
        @Nullable Double min,
        @Nullable Double max,
        @Nullable Pattern pattern,
        Set<String> oneOf) {
    static final Rule NONE = new Rule(null, false, false, null, null, null, Set.of());

    private static final Set<String> MEMBERS = Set.of("type", "required", "unique", "min", "max", "pattern", "oneOf");

    /** @throws Unusable naming the member */
    static Rule of(String column, Map<String, @Nullable Object> json) {
        String at = "parameters.rules." + column + ".";
        json.keySet().stream()
                .filter(member -> !MEMBERS.contains(member))
                .findFirst()
                .ifPresent(member -> {
                    throw new Unusable(
                            at + member + ": unknown (expected: type, required, unique, min, max, pattern, oneOf)");
                });
        return new Rule(
                type(at, json.get("type")),
                truth(at + "required", json.get("required")),
                truth(at + "unique", json.get("unique")),
                number(at + "min", json.get("min")),
                number(at + "max", json.get("max")),
                pattern(at, json.get("pattern")),
                Set.copyOf(StepInput.array(json.get("oneOf")).stream()
                        .map(String::valueOf)
                        .toList()));
    }

    private static @Nullable ColumnType type(String at, @Nullable Object value) {
        return value == null
                ? null
                : ColumnType.named(String.valueOf(value))
                        .orElseThrow(
                                () -> new Unusable(at + "type: " + value + " (expected: " + ColumnType.words() + ")"));
    }

    private static boolean truth(String at, @Nullable Object value) {
        if (value == null || value instanceof Boolean) {
            return Boolean.TRUE.equals(value);
        }
        throw new Unusable(at + ": " + value + " (expected: true or false)");
    }

    private static @Nullable Double number(String at, @Nullable Object value) {
        if (value == null) {
            return null;
        }
        if (value instanceof Number number) {
            return number.doubleValue();
        }
        throw new Unusable(at + ": " + value + " (expected: a number)");
    }

    private static @Nullable Pattern pattern(String at, @Nullable Object value) {
        try {
            return value == null ? null : Pattern.compile(String.valueOf(value));
        } catch (PatternSyntaxException malformed) {
            throw new Unusable(at + "pattern: " + malformed.getMessage() + " (expected: a regular expression of RE2)");
        }
    }

    /** Problems of a value that is not missing; empty for none. */
    List<String> problems(ColumnType found, String cell) {
        ColumnType expected = type == null ? found : type;
        Object value = expected.parse(cell);
        if (value == null) {
            return List.of("not of the type " + expected.word());
        }
        var problems = new java.util.ArrayList<String>();
        if (value instanceof Number number) {
            if (min != null && number.doubleValue() < min) {
                problems.add("less than " + plain(min));
            }
            if (max != null && number.doubleValue() > max) {
                problems.add("more than " + plain(max));
            }
        }
        if (pattern != null && !pattern.matches(cell)) {
            problems.add("does not match " + pattern.pattern());
        }
        if (!oneOf.isEmpty() && !oneOf.contains(cell)) {
            problems.add("none of the allowed values");
        }
        return problems;
    }

    private static String plain(double number) {
        return java.math.BigDecimal.valueOf(number).stripTrailingZeros().toPlainString();
    }
}
