package dev.parley.cli.telemetry;

import io.opentelemetry.sdk.common.CompletableResultCode;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Failures of exports, which the log has once until exports succeed again: one line if a collector does not answer, and one for each
 * signal that it refuses. Safe for any thread.
 */
final class ExportFailures {
    private static final Logger LOG = System.getLogger("dev.parley.telemetry");

    /** Logger of all exporters of the SDK, which tell each failure. A field, because the log manager keeps no loggers. */
    private static final java.util.logging.Logger EXPORTERS =
            java.util.logging.Logger.getLogger("io.opentelemetry.exporter");

    /** Logger that says without a reason that an export of metrics has failed, and has other warnings, too. */
    private static final java.util.logging.Logger READER =
            java.util.logging.Logger.getLogger("io.opentelemetry.sdk.metrics.export.PeriodicMetricReader");

    /** The signals that are failing now; true for those that their collector refuses. */
    private final Map<Signal, Boolean> failing = new EnumMap<>(Signal.class);

    ExportFailures() {
        boolean all = LOG.isLoggable(Level.DEBUG);
        EXPORTERS.setUseParentHandlers(all);
        READER.setFilter(logged -> all || !"Exporter failed".equals(logged.getMessage()));
    }

    /** Watches an export to the address {@code endpoint}. */
    void watch(Signal signal, String endpoint, CompletableResultCode export) {
        export.whenComplete(() -> {
            if (export.isSuccess()) {
                succeeded(signal);
            } else {
                failed(signal, endpoint, export.getFailureThrowable());
            }
        });
    }

    private void succeeded(Signal signal) {
        boolean last;
        synchronized (this) {
            last = failing.remove(signal) != null && failing.isEmpty();
        }
        if (last) {
            LOG.log(Level.INFO, "telemetry is sent again");
        }
    }

    private void failed(Signal signal, String endpoint, @Nullable Throwable failure) {
        Throwable cause = failure == null ? null : failure.getCause();
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        boolean refused = cause == null; // the answer has the status of an error
        boolean known;
        synchronized (this) {
            known = failing.containsKey(signal) || !refused && failing.containsValue(false);
            failing.put(signal, refused);
        }
        if (known) {
            return;
        }
        String place = place(endpoint);
        LOG.log(
                Level.WARNING,
                cause == null
                        ? signal.word() + " are refused by " + place + ", and dropped; " + signal.exporterVariable()
                                + "=none stops them, --debug shows the answers"
                        : "no answer from " + place + " (" + cause.getClass().getSimpleName()
                                + "); traces, metrics and logs for it are dropped until it answers");
    }

    /** An address without what may be secret in it. */
    private static String place(String endpoint) {
        URI address = URI.create(endpoint);
        String port = address.getPort() < 0 ? "" : ":" + address.getPort();
        return address.getScheme() + "://" + address.getHost() + port;
    }

    /** True if the last export of a signal failed. */
    synchronized boolean isFailing() {
        return !failing.isEmpty();
    }
}
