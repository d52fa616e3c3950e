package dev.parley.extension;

import java.util.Set;

/**
 * A label of a metric, whose values are bounded: all further values are shown as {@value #OTHER}.
 *
 * @param values its values; empty for any
 * @param most number of values that are shown by themselves; the first ones, if any may come
 */
public record MetricLabel(String name, Set<String> values, int most) {
    /** Value that stands for all further ones. */
    public static final String OTHER = "other";

    public MetricLabel {
        values = Set.copyOf(values);
        if (!name.matches("[a-z][a-z0-9_]*") || most < 1) {
            throw new IllegalArgumentException("label \"" + name + "\" of " + most
                    + " values (expected: lower-case letters, digits and underscores, and at least one value)");
        }
    }

    /** A label with these values. */
    public static MetricLabel oneOf(String name, String... values) {
        return new MetricLabel(name, Set.of(values), values.length);
    }

    /** A label with any values, of which the first ones that come are shown. */
    public static MetricLabel upTo(int most, String name) {
        return new MetricLabel(name, Set.of(), most);
    }
}
