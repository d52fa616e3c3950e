package dev.parley.hub.observation;

import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.MetricLabel;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.PrometheusNaming;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.DoubleStream;

/** Metrics of extensions in the registry of a hub. Safe for any thread. */
record ExtensionMeters(PrometheusRegistry registry) implements ExtensionMetrics {
    private static final String OF_HUB = "parley_";

    /** Values of one label that have been shown; all others become {@link MetricLabel#OTHER}. */
    private static final class Bounded {
        private final Set<String> shown = ConcurrentHashMap.newKeySet();
        private final AtomicInteger free;

        Bounded(MetricLabel label) {
            this.free = new AtomicInteger(label.values().isEmpty() ? label.most() : 0);
            shown.addAll(label.values());
        }

        String bounded(String value) {
            if (shown.contains(value)) {
                return value;
            }
            boolean taken = free.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
            if (taken && !shown.add(value)) {
                free.incrementAndGet(); // another thread was first
                return value;
            }
            return taken ? value : MetricLabel.OTHER;
        }
    }

    /** The labels of one metric. */
    private record Labels(String metric, List<Bounded> labels) {
        static Labels of(String metric, MetricLabel... labels) {
            long series = 1;
            for (MetricLabel label : labels) {
                series = Math.multiplyExact(series, label.most() + 1L);
                if (series > MOST_SERIES) {
                    throw new IllegalArgumentException("metric \"" + metric + "\": more than " + MOST_SERIES
                            + " series (expected: labels with fewer values)");
                }
            }
            return new Labels(metric, Arrays.stream(labels).map(Bounded::new).toList());
        }

        String[] bounded(String... values) {
            if (values.length != labels.size()) {
                throw new IllegalArgumentException("metric \"" + metric + "\": " + values.length
                        + " values of labels (expected: " + labels.size() + ")");
            }
            var bounded = new String[values.length];
            for (int i = 0; i < values.length; i++) {
                bounded[i] = labels.get(i).bounded(values[i]);
            }
            return bounded;
        }
    }

    private static String[] names(MetricLabel... labels) {
        return Arrays.stream(labels).map(MetricLabel::name).toArray(String[]::new);
    }

    private static void requireName(String name) {
        if (!name.matches("[a-z][a-z0-9_]*") || name.startsWith(OF_HUB) || !PrometheusNaming.isValidMetricName(name)) {
            throw new IllegalArgumentException("metric \"" + name + "\": name (expected: lower-case letters, digits and"
                    + " underscores, without the prefix " + OF_HUB + " and the suffixes _total and _info)");
        }
    }

    @Override
    public Counter counter(String name, String help, MetricLabel... labels) {
        requireName(name);
        Labels bounds = Labels.of(name, labels);
        var counter = io.prometheus.metrics.core.metrics.Counter.builder()
                .name(name)
                .help(help)
                .labelNames(names(labels))
                .register(registry);
        return (amount, values) -> counter.labelValues(bounds.bounded(values)).inc(amount);
    }

    @Override
    public Gauge gauge(String name, String help, MetricLabel... labels) {
        requireName(name);
        Labels bounds = Labels.of(name, labels);
        var gauge = io.prometheus.metrics.core.metrics.Gauge.builder()
                .name(name)
                .help(help)
                .labelNames(names(labels))
                .register(registry);
        return new Gauge() {
            @Override
            public void set(double number, String... values) {
                gauge.labelValues(bounds.bounded(values)).set(number);
            }

            @Override
            public void add(double change, String... values) {
                gauge.labelValues(bounds.bounded(values)).inc(change);
            }
        };
    }

    @Override
    public Histogram histogram(String name, String help, List<Double> upperBounds, MetricLabel... labels) {
        requireName(name);
        Labels bounds = Labels.of(name, labels);
        double[] buckets =
                upperBounds.stream().flatMapToDouble(DoubleStream::of).toArray();
        var histogram = Metrics.histogram(name, buckets)
                .help(help)
                .labelNames(names(labels))
                .register(registry);
        return (amount, values) -> histogram.labelValues(bounds.bounded(values)).observe(amount);
    }
}
