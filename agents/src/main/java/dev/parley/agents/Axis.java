package dev.parley.agents;

import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * A scale with marks at round numbers.
 *
 * @param ticks where the marks are, ascending
 * @param end where the scale ends
 */
record Axis(double[] ticks, double end) {
    private static final int TICKS = 6;

    /** From 0 to {@code max} or a little further, with marks at whole numbers. */
    static Axis wholeFromZero(int max) {
        double step = Math.max(1, Chart.roundStep((double) Math.max(max, 1) / TICKS));
        int steps = (int) Math.ceil(Math.max(max, 1) / step);
        return new Axis(
                IntStream.rangeClosed(0, steps).mapToDouble(i -> i * step).toArray(), steps * step);
    }

    /** From {@code start} to {@code end}, with marks between them. */
    static Axis between(double start, double end) {
        double step = Chart.roundStep((end - start) / TICKS);
        double first = Math.ceil(start / step);
        double[] ticks = DoubleStream.iterate(first, i -> i * step <= end, i -> i + 1)
                .limit(2 * TICKS)
                .map(i -> i * step)
                .toArray();
        return new Axis(ticks, end);
    }

    static int max(int[] counts) {
        return IntStream.of(counts).max().orElse(0);
    }
}
