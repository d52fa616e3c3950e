package dev.parley.engine;

import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.engine.AgentExtension.WatchHandler;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;

/** Handlers of operations of extensions by the names of their rows. Immutable. */
public final class Handlers {
    /** No handler. */
    public static final Handlers NONE = new Handlers(Map.of());

    private final Map<String, AgentEndpoint> byName;

    private Handlers(Map<String, AgentEndpoint> byName) {
        this.byName = Collections.unmodifiableMap(byName);
    }

    /** Returns these and the handler of an operation with one answer. */
    public <A, O extends Operation.ExtensionCall<A>> Handlers call(
            ExtensionMethod<O, A> row, CallHandler<? super O, ? extends A> handler) {
        return with(row.name(), new OneHandler<>(row.type(), handler::call));
    }

    /** Returns these and the handler of a streaming operation. */
    public <E, O extends Operation.ExtensionWatch<E>> Handlers watch(
            ExtensionMethod<O, E> row, WatchHandler<O, E> handler) {
        return with(row.name(), new OneHandler<>(row.type(), handler::watch));
    }

    /** Returns these and {@code others}, which win. */
    public Handlers and(Handlers others) {
        var all = new LinkedHashMap<>(byName);
        all.putAll(others.byName);
        return new Handlers(all);
    }

    /** Returns these and an endpoint that answers the operation of that name. */
    public Handlers with(String name, AgentEndpoint endpoint) {
        return and(new Handlers(Map.of(name, endpoint)));
    }

    /** Endpoints by the names of the operations that they answer; they refuse others with METHOD_NOT_FOUND. */
    public Map<String, AgentEndpoint> byName() {
        return byName;
    }

    /**
     * Handler of one operation as an endpoint, which refuses all others with METHOD_NOT_FOUND.
     *
     * @param handler returns the answer, or opens the stream, of the type that the operation names
     */
    @SuppressWarnings("unchecked")
    record OneHandler<O extends Operation>(Class<O> type, BiFunction<O, CallContext, Object> handler)
            implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            return (R) result(operation, context);
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            return (Feed<E>) result(operation, context);
        }

        private Object result(Operation operation, CallContext context) {
            if (!type.isInstance(operation)) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
            return handler.apply(type.cast(operation), context);
        }
    }
}
