package dev.parley.gateway.upstream;

import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.MetricLabel;
import java.util.List;

/** Metrics of the routes of a gateway. Made once for a hub; safe for any thread. */
public final class GatewayMetrics {
    private static final int MOST_ROUTES = 100;
    private static final int MOST_REPLICAS = 64;
    private static final List<Double> SECONDS = List.of(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0);

    private final ExtensionMetrics.Histogram firstEvent;
    private final ExtensionMetrics.Counter events;
    private final ExtensionMetrics.Gauge openStreams;
    private final ExtensionMetrics.Counter failures;
    private final ExtensionMetrics.Gauge breaker;

    public GatewayMetrics(ExtensionMetrics metrics) {
        MetricLabel route = MetricLabel.upTo(MOST_ROUTES, "route");
        firstEvent = metrics.histogram(
                "gateway_first_event_seconds",
                "Time until the answer or the first event of an upstream.",
                SECONDS,
                route);
        events = metrics.counter("gateway_events", "Events of upstream streams.", route);
        openStreams = metrics.gauge("gateway_open_streams", "Open upstream streams.", route);
        failures = metrics.counter(
                "gateway_upstream_failures",
                "Failed attempts to call an upstream, by cause.",
                route,
                MetricLabel.oneOf("cause", Failure.CAUSES));
        breaker = metrics.gauge(
                "gateway_breaker_state",
                "Breaker of a replica: 0 closed, 1 half-open, 2 open.",
                route,
                MetricLabel.upTo(MOST_REPLICAS, "replica"));
    }

    void firstEvent(String route, long nanos) {
        firstEvent.observe(nanos / 1e9, route);
    }

    void events(String route, int number) {
        events.add(number, route);
    }

    void streams(String route, int change) {
        openStreams.add(change, route);
    }

    void failed(String route, String cause) {
        failures.add(1, route, cause);
    }

    void breaker(String route, String replica, Breaker.State state) {
        breaker.set(
                switch (state) {
                    case CLOSED -> 0;
                    case HALF_OPEN -> 1;
                    case OPEN -> 2;
                },
                route,
                replica);
    }
}
