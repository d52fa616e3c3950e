package dev.parley.agents;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * The distribution of a column of numbers.
 *
 * @param sorted all values, ascending; at least one; not to be written to
 * @param stddev of a sample; not a number if there is only one value
 */
record NumberSummary(double[] sorted, double mean, double stddev) {
    static NumberSummary ofSorted(double[] sorted) {
        double mean = DoubleStream.of(sorted).average().orElseThrow();
        double squares =
                DoubleStream.of(sorted).map(x -> (x - mean) * (x - mean)).sum();
        return new NumberSummary(sorted, mean, Math.sqrt(squares / (sorted.length - 1)));
    }

    double min() {
        return sorted[0];
    }

    double max() {
        return sorted[sorted.length - 1];
    }

    double median() {
        return quantile(0.5);
    }

    /** The value below which the share {@code p} of all values lies, interpolated between its neighbours. */
    double quantile(double p) {
        double position = p * (sorted.length - 1);
        int below = (int) position;
        double share = position - below;
        return share == 0 ? sorted[below] : sorted[below] * (1 - share) + sorted[below + 1] * share;
    }

    int distinct() {
        return (int) DoubleStream.of(sorted).distinct().count();
    }

    /** The members that a column of numbers has in its JSON object; null where a value is not a finite number. */
    Map<String, @Nullable Object> asMap() {
        var quantiles = new LinkedHashMap<String, @Nullable Object>();
        for (int percent : new int[] {5, 25, 50, 75, 95}) {
            quantiles.put("p" + percent, json(quantile(percent / 100.0)));
        }
        var map = new LinkedHashMap<String, @Nullable Object>();
        map.put("min", json(min()));
        map.put("max", json(max()));
        map.put("mean", json(mean));
        map.put("median", json(median()));
        map.put("stddev", json(stddev));
        map.put("quantiles", quantiles);
        return map;
    }

    private static @Nullable Object json(double value) {
        if (!Double.isFinite(value)) {
            return null;
        }
        boolean whole = value == Math.rint(value) && Math.abs(value) <= 1L << 53;
        return whole ? (Object) (long) value : (Object) value;
    }
}
