package dev.parley.gateway.push;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;

/** An agent without tasks for callers. */
final class NoTasks implements AgentEndpoint {
    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        throw refusal();
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        throw refusal();
    }

    private static A2AException refusal() {
        return A2AException.of(A2AError.UNSUPPORTED_OPERATION, "This agent takes no messages");
    }
}
