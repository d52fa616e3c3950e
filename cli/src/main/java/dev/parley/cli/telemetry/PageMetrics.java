package dev.parley.cli.telemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.data.SummaryData;
import io.opentelemetry.sdk.metrics.data.SummaryPointData;
import io.opentelemetry.sdk.metrics.data.ValueAtQuantile;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBucket;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Label;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The metrics of the page {@code /metrics} as those of OpenTelemetry, read from the same registry whenever they are sent. Their names are
 * those of the page; counters lack the suffix {@code _total}, which Prometheus adds to sums that it gets by OTLP. Safe for any thread.
 */
final class PageMetrics implements MetricProducer {
    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("dev.parley.hub");

    private final InstantSource clock;
    private final Instant begun;
    private volatile Supplier<MetricSnapshots> page = MetricSnapshots::new;

    PageMetrics(InstantSource clock) {
        this.clock = clock;
        this.begun = clock.instant();
    }

    /** Reads another page from now on. */
    void show(Supplier<MetricSnapshots> other) {
        page = other;
    }

    @Override
    public Collection<MetricData> produce(Resource resource) {
        var reading = new Reading(resource, nanos(begun), nanos(clock.instant()));
        return page.get().stream()
                .map(reading::metric)
                .flatMap(Optional::stream)
                .filter(metric -> !metric.isEmpty())
                .toList();
    }

    private static long nanos(Instant instant) {
        return TimeUnit.SECONDS.toNanos(instant.getEpochSecond()) + instant.getNano();
    }

    /** A metric as OpenTelemetry wants it; the names are those of its accessors. */
    private record PageMetric(
            Resource getResource,
            InstrumentationScopeInfo getInstrumentationScopeInfo,
            String getName,
            String getDescription,
            String getUnit,
            MetricDataType getType,
            Data<?> getData)
            implements MetricData {}

    /**
     * One reading of the page.
     *
     * @param begunNanos begin of the counts whose begin the page does not have
     */
    private record Reading(Resource resource, long begunNanos, long nowNanos) {
        /** A metric of the page; empty if it is of a kind that a hub does not have. */
        Optional<MetricData> metric(MetricSnapshot shown) {
            String name = shown.getMetadata().getName();
            return switch (shown) {
                case CounterSnapshot counter -> {
                    var points = points(counter.getDataPoints(), point -> number(point, point.getValue()));
                    yield Optional.of(metric(
                            shown,
                            name,
                            MetricDataType.DOUBLE_SUM,
                            SumData.createDoubleSumData(true, AggregationTemporality.CUMULATIVE, points)));
                }
                case GaugeSnapshot gauge ->
                    Optional.of(gauge(
                            shown, name, points(gauge.getDataPoints(), point -> number(point, point.getValue()))));
                case InfoSnapshot info ->
                    Optional.of(gauge(shown, name + "_info", points(info.getDataPoints(), point -> number(point, 1))));
                case HistogramSnapshot histogram -> {
                    var points = points(histogram.getDataPoints(), this::buckets);
                    yield Optional.of(metric(
                            shown,
                            name,
                            MetricDataType.HISTOGRAM,
                            HistogramData.create(AggregationTemporality.CUMULATIVE, points)));
                }
                case SummarySnapshot summary ->
                    Optional.of(metric(
                            shown,
                            name,
                            MetricDataType.SUMMARY,
                            SummaryData.create(points(summary.getDataPoints(), this::quantiles))));
                default -> Optional.empty();
            };
        }

        private MetricData gauge(MetricSnapshot shown, String name, List<DoublePointData> points) {
            return metric(shown, name, MetricDataType.DOUBLE_GAUGE, GaugeData.createDoubleGaugeData(points));
        }

        private MetricData metric(MetricSnapshot shown, String name, MetricDataType type, Data<?> data) {
            String unit = name.endsWith("_seconds") ? "s" : name.endsWith("_bytes") ? "By" : "";
            String help = shown.getMetadata().getHelp();
            return new PageMetric(resource, SCOPE, name, help == null ? "" : help, unit, type, data);
        }

        private static <P, Q> List<Q> points(List<P> shown, Function<P, Q> point) {
            return shown.stream().map(point).toList();
        }

        private DoublePointData number(DataPointSnapshot point, double value) {
            return DoublePointData.create(begun(point), nowNanos, labels(point), value, List.of());
        }

        private HistogramPointData buckets(HistogramDataPointSnapshot point) {
            List<ClassicHistogramBucket> buckets =
                    point.getClassicBuckets().stream().toList();
            Stream<Double> bounds =
                    buckets.stream().map(ClassicHistogramBucket::getUpperBound).filter(Double::isFinite);
            return HistogramPointData.create(
                    begun(point),
                    nowNanos,
                    labels(point),
                    point.getSum(),
                    false,
                    0,
                    false,
                    0,
                    bounds.toList(),
                    buckets.stream().map(ClassicHistogramBucket::getCount).toList());
        }

        private SummaryPointData quantiles(SummaryDataPointSnapshot point) {
            var quantiles = new ArrayList<ValueAtQuantile>();
            point.getQuantiles()
                    .forEach(each -> quantiles.add(ValueAtQuantile.create(each.getQuantile(), each.getValue())));
            return SummaryPointData.create(
                    begun(point), nowNanos, labels(point), point.getCount(), point.getSum(), quantiles);
        }

        private long begun(DataPointSnapshot point) {
            return point.hasCreatedTimestamp()
                    ? TimeUnit.MILLISECONDS.toNanos(point.getCreatedTimestampMillis())
                    : begunNanos;
        }

        private static Attributes labels(DataPointSnapshot point) {
            AttributesBuilder attributes = Attributes.builder();
            for (Label label : point.getLabels()) {
                attributes.put(label.getName(), label.getValue());
            }
            return attributes.build();
        }
    }
}
