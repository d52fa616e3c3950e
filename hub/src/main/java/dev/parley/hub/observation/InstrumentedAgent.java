package dev.parley.hub.observation;

import dev.parley.client.spi.Traces;
import dev.parley.extension.HubObserver;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Scope;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Stands before all that callers can ask of one agent, to measure, to trace and to log it: each request once, whatever its dialect.
 * Safe for any thread.
 */
public final class InstrumentedAgent {
    private static final Logger LOG = RequestLog.open();

    private final String agent;
    private final Metrics metrics;
    private final Traces traces;
    private final GaugeDataPoint streams;
    private final List<HubObserver> observers;
    /** By dialect, then by operation: two looks into small maps, and nothing made for a key. */
    private final Map<String, Map<String, Metrics.Asked>> asked = new ConcurrentHashMap<>();

    public InstrumentedAgent(String agent, Metrics metrics, Traces traces, List<HubObserver> observers) {
        this.agent = agent;
        this.metrics = metrics;
        this.traces = traces;
        this.observers = observers;
        this.streams = metrics.streams(agent);
    }

    public AgentEndpoint before(AgentEndpoint endpoint) {
        var measured = new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                return observe(operation, context, () -> endpoint.call(operation, context));
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                Feed<E> feed = observe(operation, context, () -> endpoint.watch(operation, context));
                streams.inc();
                return feed.onClose(streams::dec);
            }
        };
        return traces.isOff() ? measured : traces.before(SpanKind.SERVER, () -> agent, measured);
    }

    /** Counts the bytes of a call. */
    public void carried(Operation operation, CallContext caller, long received, long sent) {
        observers.forEach(one -> one.carried(agent, operation, caller, received, sent));
    }

    private <T> T observe(Operation operation, CallContext context, Supplier<T> work) {
        String name = operation.name();
        Metrics.Asked counted = counted(name, context.dialect());
        long begun = System.nanoTime();
        try {
            T answer = work.get();
            long nanos = System.nanoTime() - begun;
            counted.answered(nanos);
            observers.forEach(one -> one.called(agent, operation, context, nanos, null));
            tell(name, context, Correlation.of(operation, answer), "answered", nanos);
            return answer;
        } catch (Throwable failure) {
            long nanos = System.nanoTime() - begun;
            ErrorKind error = A2AError.of(failure);
            counted.failed(nanos, error);
            observers.forEach(one -> one.called(agent, operation, context, nanos, error));
            tell(name, context, Correlation.of(operation, null), error.name(), nanos);
            throw failure;
        }
    }

    private void tell(String name, CallContext context, Correlation correlation, String outcome, long nanos) {
        if (LOG.isLoggable(Level.INFO)) {
            try (Scope here =
                    correlation.in(Traces.parent(context.traceparent())).makeCurrent()) {
                LOG.log(
                        Level.INFO,
                        "{0} of {1} for {2}: {3}, {4} ms",
                        name,
                        agent,
                        context.caller(),
                        outcome,
                        TimeUnit.NANOSECONDS.toMillis(nanos));
            }
        }
    }

    private Metrics.Asked counted(String operation, String dialect) {
        Map<String, Metrics.Asked> ofDialect = asked.get(dialect);
        if (ofDialect == null) {
            ofDialect = asked.computeIfAbsent(dialect, name -> new ConcurrentHashMap<>());
        }
        Metrics.Asked known = ofDialect.get(operation);
        return known != null
                ? known
                : ofDialect.computeIfAbsent(operation, name -> metrics.asked(agent, name, dialect));
    }
}
