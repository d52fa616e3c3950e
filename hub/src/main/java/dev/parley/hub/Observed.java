package dev.parley.hub;

import dev.parley.client.Traces;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.Feed;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.OwnMethod;
import io.opentelemetry.api.trace.SpanKind;
import io.prometheus.metrics.core.datapoints.GaugeDataPoint;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Stands before all that callers can ask of one agent, to measure it and to trace it: each request once, whatever its dialect.
 * Safe for any thread.
 */
final class Observed {
    private final String agent;
    private final Metrics metrics;
    private final Traces traces;
    private final GaugeDataPoint streams;
    /** By dialect, then by operation: two looks into small maps, and nothing made for a key. */
    private final Map<String, Map<String, Metrics.Asked>> asked = new ConcurrentHashMap<>();

    Observed(String agent, Metrics metrics, Traces traces) {
        this.agent = agent;
        this.metrics = metrics;
        this.traces = traces;
        this.streams = metrics.streams(agent);
    }

    /** Something that is asked for. */
    @FunctionalInterface
    private interface Work<T, X extends Exception> {
        T answer() throws X;
    }

    AgentEndpoint before(AgentEndpoint agentItself) {
        AgentEndpoint endpoint =
                traces.isOff() ? agentItself : traces.before(SpanKind.SERVER, () -> agent, agentItself);
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                return observe(operation.getClass().getSimpleName(), context, () -> endpoint.call(operation, context));
            }

            @Override
            public EventStream watch(Operation.Watch operation, CallContext context) {
                String name = operation.getClass().getSimpleName();
                return new Events(observe(name, context, () -> endpoint.watch(operation, context)));
            }
        };
    }

    KnowledgeEndpoint before(KnowledgeEndpoint graphItself) {
        KnowledgeEndpoint graph =
                traces.isOff() ? graphItself : traces.before(SpanKind.SERVER, () -> agent, graphItself);
        return new KnowledgeEndpoint() {
            @Override
            public List<String> queryLanguages() {
                return graph.queryLanguages();
            }

            @Override
            public KnowledgeOperation.QueryResult query(KnowledgeOperation.Query query, CallContext context) {
                return observe("knowledge/query", context, () -> graph.query(query, context));
            }

            @Override
            public KnowledgeOperation.UpdateResult update(KnowledgeOperation.Update update, CallContext context) {
                return observe("knowledge/update", context, () -> graph.update(update, context));
            }

            @Override
            public Changes subscribe(KnowledgeOperation.Subscribe subscription, CallContext context) {
                return new ChangesSeen(
                        observe("knowledge/subscribe", context, () -> graph.subscribe(subscription, context)));
            }
        };
    }

    OwnMethod before(String name, OwnMethod methodItself) {
        OwnMethod method = traces.isOff() ? methodItself : traces.before(SpanKind.SERVER, agent, name, methodItself);
        return (params, caller) -> observe(name, caller, () -> method.call(params, caller));
    }

    private <T, X extends Exception> T observe(String operation, CallContext context, Work<T, X> work) throws X {
        Metrics.Asked counted = counted(operation, context.dialect());
        long begun = System.nanoTime();
        try {
            T answer = work.answer();
            counted.answered(System.nanoTime() - begun);
            return answer;
        } catch (Throwable failure) {
            counted.failed(System.nanoTime() - begun, failure);
            throw failure;
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

    /** A stream that is counted as long as it is open. */
    private abstract class Counted<E> implements Feed<E> {
        private final Feed<E> feed;
        private final AtomicBoolean open = new AtomicBoolean(true);

        Counted(Feed<E> feed) {
            this.feed = feed;
            streams.inc();
        }

        @Override
        public @Nullable List<E> next(Duration patience) throws InterruptedException {
            return feed.next(patience);
        }

        @Override
        public void close() {
            if (open.compareAndSet(true, false)) {
                streams.dec();
            }
            feed.close();
        }
    }

    private final class Events extends Counted<LoggedEvent> implements EventStream {
        Events(EventStream events) {
            super(events);
        }
    }

    private final class ChangesSeen extends Counted<KnowledgeOperation.Change> implements KnowledgeEndpoint.Changes {
        private final @Nullable String position;

        ChangesSeen(KnowledgeEndpoint.Changes changes) {
            super(changes);
            this.position = changes.position();
        }

        @Override
        public @Nullable String position() {
            return position;
        }
    }
}
