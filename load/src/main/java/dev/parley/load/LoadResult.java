package dev.parley.load;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Result of a run.
 *
 * @param measured how long was counted; less than planned if the run ended early
 * @param usage processor time meanwhile, which shows the bottleneck
 * @param serverResidentBytes memory of the server at the end; 0 if its process is not known
 */
record LoadResult(
        LoadTarget target, LoadPlan plan, Duration measured, LoadTally tally, Usage usage, long serverResidentBytes)
        implements LoadReport {

    /**
     * Processor time.
     *
     * @param client of this process
     * @param server zero if its process is not known
     * @param machine of everything, these two included; zero if it is not known
     */
    record Usage(Duration client, Duration server, Duration machine) {
        Usage minus(Usage earlier) {
            return new Usage(
                    client.minus(earlier.client), server.minus(earlier.server), machine.minus(earlier.machine));
        }

        /** Processor time used by neither the client nor the server: a disturbance, unless the server's process is unknown. */
        Duration others() {
            Duration others = machine.minus(client).minus(server);
            return others.isNegative() ? Duration.ZERO : others;
        }
    }

    @Override
    public boolean isUseless() {
        return tally.requests() == 0 && tally.events() == 0;
    }

    @Override
    public Map<String, @Nullable Object> values() {
        double seconds = measured.toNanos() / 1e9;
        boolean streams = plan.kind() == LoadKind.STREAM;
        var values = new LinkedHashMap<String, @Nullable Object>();
        values.put("seconds", LoadReport.round(seconds));
        values.put(streams ? "streams" : "requests", tally.requests());
        values.put(streams ? "streamsPerSecond" : "requestsPerSecond", LoadReport.round(tally.requests() / seconds));
        if (streams) {
            values.put("events", tally.events());
            values.put("eventsPerSecond", LoadReport.round(tally.events() / seconds));
            values.put("firstEventMilliseconds", latency(tally.firstEvent()));
        }
        values.put("latencyMilliseconds", latency(tally.latency()));
        values.put("bytesSent", tally.bytesSent());
        values.put("bytesReceived", tally.bytesReceived());
        values.put("errors", tally.errors());
        values.put("clientProcessorPercent", percent(usage.client()));
        if (serverResidentBytes > 0) {
            values.put("serverProcessorPercent", percent(usage.server()));
            values.put("otherProcessorPercent", percent(usage.others()));
            long answers = Math.max(1, streams ? tally.events() : tally.requests());
            values.put(
                    streams ? "serverMicrosecondsPerEvent" : "serverMicrosecondsPerRequest",
                    LoadReport.round(usage.server().toNanos() / 1e3 / answers));
            values.put("serverResidentBytes", serverResidentBytes);
        }
        return values;
    }

    /** Of one core. */
    private double percent(Duration processor) {
        return Math.round(100.0 * processor.toNanos() / measured.toNanos());
    }

    private static Map<String, @Nullable Object> latency(Histogram nanoseconds) {
        var values = new LinkedHashMap<String, @Nullable Object>();
        values.put("p50", milliseconds(nanoseconds.getValueAtPercentile(50)));
        values.put("p90", milliseconds(nanoseconds.getValueAtPercentile(90)));
        values.put("p95", milliseconds(nanoseconds.getValueAtPercentile(95)));
        values.put("p99", milliseconds(nanoseconds.getValueAtPercentile(99)));
        values.put("p99.9", milliseconds(nanoseconds.getValueAtPercentile(99.9)));
        values.put("max", milliseconds(nanoseconds.getMaxValue()));
        return values;
    }

    private static double milliseconds(long nanoseconds) {
        return LoadReport.round(nanoseconds / 1e6);
    }
}
