package dev.parley.gateway.route;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;

/** Refuses the calls of a route that is paused. */
public record PausedEndpoint(String route) implements AgentEndpoint {
    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        throw paused();
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        throw paused();
    }

    private A2AException paused() {
        // Without Retry-After: only the operator knows, and clients would wait for it.
        return A2AException.of(
                A2AError.UNAVAILABLE, "The agent \"" + route + "\" is paused until an operator resumes it");
    }
}
