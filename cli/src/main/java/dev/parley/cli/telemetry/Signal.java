package dev.parley.cli.telemetry;

import java.util.Locale;

/** A kind of telemetry, with its names in the configuration of OpenTelemetry. */
enum Signal {
    TRACES,
    METRICS,
    LOGS;

    /** Its name in a sentence. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The property with the name of its exporter. */
    String exporter() {
        return "otel." + word() + ".exporter";
    }

    /** The property with an endpoint of its own. */
    String endpoint() {
        return "otel.exporter.otlp." + word() + ".endpoint";
    }

    /** The variable with an endpoint of its own. */
    String variable() {
        return "OTEL_EXPORTER_OTLP_" + name() + "_ENDPOINT";
    }

    /** The variable with the name of its exporter. */
    String exporterVariable() {
        return "OTEL_" + name() + "_EXPORTER";
    }
}
