package dev.parley.cli.telemetry;

import static java.util.Objects.requireNonNullElse;

import dev.parley.cli.output.Logs;
import dev.parley.hub.Hub;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.logs.export.LogRecordExporter;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The SDK of OpenTelemetry, which sends traces, metrics and logs by OTLP; its own variables, OTEL_…, configure it. All are queued in
 * memory up to a limit, and sent by threads of the SDK, so no call waits for a collector. Safe for any thread.
 */
public final class Telemetry implements AutoCloseable {
    private static final String ENDPOINT = "otel.exporter.otlp.endpoint";

    /** Longest time in which a stop sends what is queued; shorter if the latest export failed. */
    private static final Duration LAST = Duration.ofSeconds(10);

    private static final Duration LAST_OF_FAILING = Duration.ofSeconds(1);

    private final ExportFailures failures = new ExportFailures();
    private final PageMetrics metrics = new PageMetrics(InstantSource.system());
    private final OpenTelemetrySdk sdk;

    private Telemetry(@Nullable URI endpoint, Map<String, String> defaults) {
        // Environment variables win over the defaults, except for the endpoint, which a flag gave.
        this.sdk = AutoConfiguredOpenTelemetrySdk.builder()
                .addPropertiesSupplier(() -> defaults)
                .addPropertiesCustomizer(unused -> endpoint == null ? Map.of() : Map.of(ENDPOINT, endpoint.toString()))
                .addSpanExporterCustomizer(
                        (exporter, config) -> watched(SpanExporter.class, exporter, Signal.TRACES, config))
                .addMetricExporterCustomizer(
                        (exporter, config) -> watched(MetricExporter.class, exporter, Signal.METRICS, config))
                .addLogRecordExporterCustomizer(
                        (exporter, config) -> watched(LogRecordExporter.class, exporter, Signal.LOGS, config))
                .addMeterProviderCustomizer((provider, config) -> provider.registerMetricProducer(metrics))
                .disableShutdownHook()
                .build()
                .getOpenTelemetrySdk();
    }

    /**
     * Sets it up as the one of this process, so that clients inside of agents use it too; null if no endpoint is given.
     *
     * @param endpoint of all signals; null for those of the environment
     */
    public static @Nullable Telemetry start(@Nullable URI endpoint, Map<String, String> environment) {
        boolean all = endpoint != null || environment.containsKey("OTEL_EXPORTER_OTLP_ENDPOINT");
        var defaults = new LinkedHashMap<String, String>();
        for (Signal signal : Signal.values()) {
            defaults.put(signal.exporter(), all || environment.containsKey(signal.variable()) ? "otlp" : "none");
        }
        if (!defaults.containsValue("otlp")) {
            return null;
        }
        defaults.put("otel.service.name", "parley");
        defaults.put("otel.exporter.otlp.protocol", "http/protobuf");
        var telemetry = new Telemetry(endpoint, Map.copyOf(defaults));
        if (!GlobalOpenTelemetry.isSet()) {
            GlobalOpenTelemetry.set(telemetry.sdk);
        }
        Logs.also(new ExportedLog(telemetry.sdk.getSdkLoggerProvider()));
        return telemetry;
    }

    /** An exporter that reports its results. A proxy passes the methods on that differ between the three kinds and between versions. */
    private <E> E watched(Class<E> kind, E exporter, Signal signal, ConfigProperties config) {
        String own = config.getString(signal.endpoint());
        String place = String.valueOf(own == null ? config.getString(ENDPOINT) : own);
        Consumer<CompletableResultCode> watcher = export -> failures.watch(signal, place, export);
        InvocationHandler passing = (proxy, method, arguments) -> {
            try {
                Object result = method.invoke(exporter, arguments);
                if (method.getName().equals("export") && result instanceof CompletableResultCode export) {
                    watcher.accept(export);
                }
                return result;
            } catch (InvocationTargetException failed) {
                throw requireNonNullElse(failed.getCause(), failed);
            }
        };
        return kind.cast(Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, passing));
    }

    /** The SDK of hubs and clients. */
    public OpenTelemetrySdk sdk() {
        return sdk;
    }

    /** Sends the metrics of {@code hub} from now on, in place of those of another one. */
    public void show(Hub hub) {
        metrics.show(hub::allMetrics);
    }

    /** Sends the rest, and ends. */
    @Override
    public void close() {
        Logs.also(null);
        Duration limit = failures.isFailing() ? LAST_OF_FAILING : LAST;
        // The SDK waits for its exporters before it returns.
        Thread end = Thread.ofVirtual()
                .name("telemetry-end")
                .start(() -> sdk.shutdown().join(limit.toMillis(), TimeUnit.MILLISECONDS));
        try {
            end.join(limit);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
