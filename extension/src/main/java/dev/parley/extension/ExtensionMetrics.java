package dev.parley.extension;

import java.util.List;

/**
 * Metrics of an extension, on the page of the hub's metrics. To be made once, in {@link HubExtensionSource#open}; their values may be
 * changed by any thread.
 *
 * <p>A name is lower-case letters, digits and underscores, unique in a hub, and does not begin with {@code parley_}. The values of
 * labels are given in the order of the labels. All methods throw {@link IllegalArgumentException} for other names, for labels that
 * together allow more than {@value #MOST_SERIES} series, and for too few or too many values.
 */
public interface ExtensionMetrics {
    /** Series that the labels of one metric may allow. */
    int MOST_SERIES = 10_000;

    /** A metric whose number only grows, shown as {@code NAME_total}. */
    Counter counter(String name, String help, MetricLabel... labels);

    /** A metric whose number goes up and down. */
    Gauge gauge(String name, String help, MetricLabel... labels);

    /**
     * A metric that counts amounts in buckets.
     *
     * @param upperBounds of the buckets, ascending; a last one has all larger amounts
     */
    Histogram histogram(String name, String help, List<Double> upperBounds, MetricLabel... labels);

    /** A number that only grows. */
    @FunctionalInterface
    interface Counter {
        void add(double amount, String... values);
    }

    /** A number that goes up and down. */
    interface Gauge {
        void set(double number, String... values);

        void add(double change, String... values);
    }

    /** Amounts in buckets. */
    @FunctionalInterface
    interface Histogram {
        void observe(double amount, String... values);
    }
}
