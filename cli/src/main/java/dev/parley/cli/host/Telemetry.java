package dev.parley.cli.host;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.net.URI;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The SDK of OpenTelemetry, which sends spans by OTLP; its own variables, OTEL_…, configure it. */
public final class Telemetry {
    private static final String ENDPOINT = "otel.exporter.otlp.endpoint";

    private Telemetry() {}

    /**
     * Sets it up as the one of this process, so that clients inside of agents use it too; null if nothing says where spans
     * shall go.
     */
    public static @Nullable OpenTelemetrySdk start(@Nullable URI endpoint, Map<String, String> environment) {
        if (endpoint == null
                && !environment.containsKey("OTEL_EXPORTER_OTLP_ENDPOINT")
                && !environment.containsKey("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")) {
            return null;
        }
        // Environment variables win over these defaults, except for the endpoint, which a flag gave.
        OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.builder()
                .addPropertiesSupplier(() -> Map.of(
                        "otel.service.name", "parley",
                        "otel.exporter.otlp.protocol", "http/protobuf",
                        "otel.metrics.exporter", "none",
                        "otel.logs.exporter", "none"))
                .addPropertiesCustomizer(unused -> endpoint == null ? Map.of() : Map.of(ENDPOINT, endpoint.toString()))
                .disableShutdownHook()
                .build()
                .getOpenTelemetrySdk();
        if (!GlobalOpenTelemetry.isSet()) {
            GlobalOpenTelemetry.set(sdk);
        }
        return sdk;
    }
}
