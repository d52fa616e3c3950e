package dev.parley.engine;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.util.function.BiFunction;

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
