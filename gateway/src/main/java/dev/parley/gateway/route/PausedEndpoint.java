package dev.parley.gateway.route;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.time.Duration;

/** Refuses the calls of a route that is paused. */
public record PausedEndpoint(String route) implements AgentEndpoint {
    private static final Duration PAUSE = Duration.ofSeconds(30);

    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        throw paused();
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        throw paused();
    }

    private A2AException paused() {
        return A2AException.unavailable("The agent \"" + route + "\" is paused until an operator resumes it", PAUSE);
    }
}
