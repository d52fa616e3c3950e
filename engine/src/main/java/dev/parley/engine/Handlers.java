package dev.parley.engine;

import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.engine.AgentExtension.WatchHandler;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;

/** Handlers of single operations as endpoints, which refuse all others with METHOD_NOT_FOUND. */
final class Handlers {
    private Handlers() {}

    static <O extends Operation, A> AgentEndpoint answering(Class<O> type, CallHandler<O, A> handler) {
        return new AgentEndpoint() {
            @Override
            @SuppressWarnings("unchecked") // an operation's answer has the type that the operation names
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                if (!type.isInstance(operation)) {
                    throw A2AException.of(A2AError.METHOD_NOT_FOUND);
                }
                return (R) handler.call(type.cast(operation), context);
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
        };
    }

    static <O extends Operation, A> AgentEndpoint streaming(Class<O> type, WatchHandler<O, A> handler) {
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }

            @Override
            @SuppressWarnings("unchecked") // an operation's stream has elements of the type that the operation names
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                if (!type.isInstance(operation)) {
                    throw A2AException.of(A2AError.METHOD_NOT_FOUND);
                }
                return (Feed<E>) handler.watch(type.cast(operation), context);
            }
        };
    }
}
