package dev.parley.hub.observation;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.Engine;
import dev.parley.engine.Request;
import dev.parley.engine.Webhooks;
import dev.parley.engine.spi.WebhookTransport.Outcome;
import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.HubExtension;
import dev.parley.protocol.ErrorKind;
import dev.parley.server.RequestHandler;
import dev.parley.store.database.Database;
import dev.parley.store.database.GroupListener;
import dev.parley.store.database.Storage.Usage;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Metrics of a hub, and the page on which Prometheus reads them. Safe for any thread.
 *
 * <p>The values of labels are bounded: agents, operations, dialects, states and errors are those of the hub, and {@link ExtensionMeters}
 * limits those of extensions.
 */
public final class Metrics implements RequestHandler {
    private static final double[] SECONDS = {
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300
    };
    /** Groups with a line of their own: the values of a label are bounded. */
    private static final int MOST_GROUPS = 100;

    private static final double[] COMMITS = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final ExpositionFormats formats = ExpositionFormats.init();
    private final Counter requests = Counter.builder()
            .name("parley_requests")
            .help("Operations asked for.")
            .labelNames("agent", "operation", "dialect")
            .register(registry);
    private final Counter errors = Counter.builder()
            .name("parley_errors")
            .help("Operations answered with an error.")
            .labelNames("agent", "operation", "dialect", "error")
            .register(registry);
    private final Histogram durations = histogram("parley_request_duration_seconds", SECONDS)
            .help("Time to an answer, or to the beginning of a stream.")
            .labelNames("agent", "operation", "dialect")
            .register(registry);
    private final Histogram runs = histogram("parley_run_duration_seconds", SECONDS)
            .help("Time that an agent worked at a message, by the state of the task then; message if there is none.")
            .labelNames("agent", "state")
            .register(registry);
    private final Counter refusals = Counter.builder()
            .name("parley_refused_requests")
            .help("Requests that were refused before they came to an agent, by HTTP status.")
            .labelNames("status")
            .register(registry);
    private final Gauge streams = Gauge.builder()
            .name("parley_open_streams")
            .help("Streams of events and of changes that are open.")
            .labelNames("agent")
            .register(registry);
    private final Counter attempts = Counter.builder()
            .name("parley_webhook_attempts")
            .help("Events offered to webhooks.")
            .labelNames("outcome")
            .register(registry);
    private final Histogram deliveries = histogram("parley_webhook_delivery_seconds", SECONDS)
            .help("Time of an attempt to deliver an event to a webhook.")
            .labelNames("agent", "dialect", "outcome")
            .register(registry);
    private final DistributionDataPoint commits = histogram("parley_commit_size", COMMITS)
            .help("Pieces of work that were written to disk together.")
            .register(registry);
    private final Counter lost = Counter.builder()
            .name("parley_lost_groups")
            .help("Acknowledged transactions that the database had lost when the hub began anew.")
            .register(registry);
    private final Map<Ran, DistributionDataPoint> known = new ConcurrentHashMap<>();
    private boolean complete;

    private record Ran(String agent, String state) {}

    /** Meters of one operation of one agent in one dialect: cached, because each request needs them. */
    final class Asked {
        private final String[] labels;
        private final CounterDataPoint count;
        private final DistributionDataPoint duration;

        private Asked(String agent, String operation, String dialect) {
            this.labels = new String[] {agent, operation, dialect};
            this.count = requests.labelValues(labels);
            this.duration = durations.labelValues(labels);
        }

        void answered(long nanos) {
            count.inc();
            duration.observe(nanos / (double) TimeUnit.SECONDS.toNanos(1));
        }

        void failed(long nanos, ErrorKind error) {
            answered(nanos);
            errors.labelValues(labels[0], labels[1], labels[2], error.name()).inc();
        }
    }

    static Histogram.Builder histogram(String name, double[] bounds) {
        return Histogram.builder()
                .name(name)
                .classicOnly()
                .classicUpperBounds(bounds)
                .withoutExemplars();
    }

    /** Metrics of extensions, on the same page. */
    public ExtensionMetrics ofExtensions() {
        return new ExtensionMeters(registry);
    }

    Asked asked(String agent, String operation, String dialect) {
        return new Asked(agent, operation, dialect);
    }

    public void refused(int status) {
        refusals.labelValues(Integer.toString(status)).inc();
    }

    /** Counts transactions that are lost. */
    public void lost(long groups) {
        lost.inc(groups);
    }

    /** Open streams of all agents. */
    public int openStreams() {
        return (int) streams.collect().getDataPoints().stream()
                .mapToDouble(point -> point.getValue())
                .sum();
    }

    GaugeDataPoint streams(String agent) {
        return streams.labelValues(agent);
    }

    /** Lets an agent work, and takes the time. */
    void run(String agent, Request request, Runnable work) {
        long begun = System.nanoTime();
        try {
            work.run();
        } finally {
            double seconds = (System.nanoTime() - begun) / (double) TimeUnit.SECONDS.toNanos(1);
            String state = request.task().map(task -> task.state().name()).orElse("message");
            known.computeIfAbsent(
                            new Ran(agent, state),
                            ran -> runs.labelValues(ran.agent(), ran.state().toLowerCase(Locale.ROOT)))
                    .observe(seconds);
        }
    }

    /** Counts an attempt to deliver an event of a task, and its duration. */
    public void attempted(String agent, String dialect, Outcome outcome, long nanos) {
        String word = outcome instanceof Outcome.Accepted ? "accepted" : "failed";
        attempts.labelValues(word).inc();
        deliveries.labelValues(agent, dialect, word).observe(nanos / (double) TimeUnit.SECONDS.toNanos(1));
    }

    /** Shows how much an engine has to do. */
    public void show(Engine engine) {
        GaugeWithCallback.builder()
                .name("parley_running_tasks")
                .help("Tasks that agents are working at.")
                .labelNames("agent")
                .callback(gauge -> engine.load().forEach((agent, load) -> gauge.call(load.running(), agent)))
                .register(registry);
        GaugeWithCallback.builder()
                .name("parley_waiting_tasks")
                .help("Tasks that wait until their agent has time for them.")
                .labelNames("agent")
                .callback(gauge -> engine.load().forEach((agent, load) -> gauge.call(load.waiting(), agent)))
                .register(registry);
        GaugeWithCallback.builder()
                .name("parley_waiting_tasks_by_priority")
                .help("Tasks that wait until their agent has time for them, of agents with priorities.")
                .labelNames("agent", "priority")
                .callback(gauge -> engine.waiting()
                        .forEach((agent, levels) -> levels.forEach((priority, count) ->
                                gauge.call(count, agent, priority.name().toLowerCase(Locale.ROOT)))))
                .register(registry);
        engine.deliveries().ifPresent(this::show);
    }

    /** Shows whether extensions reach the systems outside of the hub that they need. */
    public void show(List<HubExtension> extensions) {
        GaugeWithCallback.builder()
                .name("parley_extension_available")
                .help("1 if an extension could use what it needs outside of the hub when it did last, 0 if not.")
                .labelNames("extension")
                .callback(gauge -> extensions.forEach(
                        extension -> gauge.call(extension.problem().isEmpty() ? 1 : 0, extension.name())))
                .register(registry);
    }

    private void show(Webhooks webhooks) {
        GaugeWithCallback.builder()
                .name("parley_webhooks_pending")
                .help("Webhooks with deliveries outstanding.")
                .callback(gauge -> gauge.call((double) webhooks.backlog()))
                .register(registry);
        CounterWithCallback.builder()
                .name("parley_webhooks_given_up")
                .help("Webhooks that were given up since the start.")
                .callback(counter -> counter.call((double) webhooks.givenUp()))
                .register(registry);
    }

    /** Shows the bytes that groups keep in a database, and counts works that it writes in one transaction. */
    public void show(Database database) {
        GaugeWithCallback.builder()
                .name("parley_stored_bytes")
                .help("Bytes that a group keeps, by kind of data.")
                .labelNames("group", "kind")
                .callback(gauge -> usage(database)
                        .forEach(group -> group.getValue()
                                .bytes()
                                .forEach((kind, bytes) -> gauge.call(bytes, group.getKey(), kind.word()))))
                .register(registry);
        GaugeWithCallback.builder()
                .name("parley_stored_bytes_limit")
                .help("Limit of the bytes that a group keeps, of groups with a limit.")
                .labelNames("group")
                .callback(gauge -> usage(database).forEach(group -> {
                    Long limit = group.getValue().limit();
                    if (limit != null) {
                        gauge.call(limit, group.getKey());
                    }
                }))
                .register(registry);
        database.listen(new GroupListener() {
            @Override
            public void committed(int works) {
                commits.observe(works);
            }
        });
    }

    /** The groups that keep most. */
    private static List<Map.Entry<String, Usage>> usage(Database database) {
        return database.storage().usage().entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, Usage> group) ->
                                group.getValue().sum())
                        .reversed())
                .limit(MOST_GROUPS)
                .toList();
    }

    /** The metrics of the hub, without those of the virtual machine. */
    public MetricSnapshots ofHub() {
        return registry.scrape(name -> name.startsWith("parley_"));
    }

    /** The metrics of the page. */
    public MetricSnapshots all() {
        complete();
        return registry.scrape();
    }

    @Override
    public WireAnswer answer(WireRequest request, Body body) {
        request.requirePage();
        List<String> names = request.query().getOrDefault("name[]", List.of()); // as in exporters of Prometheus
        ExpositionFormatWriter writer = formats.findWriter(request.header("Accept"));
        var page = new ByteArrayOutputStream();
        try {
            writer.write(page, names.isEmpty() ? all() : of(names));
        } catch (IOException impossible) {
            throw new UncheckedIOException("memory takes all bytes", impossible);
        }
        return new WireAnswer.Whole(
                200, Map.of("Content-Type", writer.getContentType(), "Cache-Control", "no-store"), page.toByteArray());
    }

    private MetricSnapshots of(List<String> names) {
        complete();
        return registry.scrape(names::contains);
    }

    /** Meters of the virtual machine take time to set up, so they are created when the page is first read. */
    private synchronized void complete() {
        if (!complete) {
            complete = true;
            JvmMetrics.builder().register(registry);
        }
    }
}
