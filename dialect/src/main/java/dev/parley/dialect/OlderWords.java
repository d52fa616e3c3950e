package dev.parley.dialect;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;

/** An agent whose errors use the names that roles and headers have before 1.0. */
record OlderWords(AgentEndpoint agent) implements AgentEndpoint {
    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        try {
            return agent.call(operation, context);
        } catch (A2AException refused) {
            throw worded(refused);
        }
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        try {
            return agent.watch(operation, context);
        } catch (A2AException refused) {
            throw worded(refused);
        }
    }

    private static A2AException worded(A2AException refused) {
        return refused.inWords(
                field -> field,
                text -> text.replace("ROLE_USER", "user")
                        .replace("ROLE_AGENT", "agent")
                        .replace("the " + Dialects.EXTENSIONS + " header", "the X-" + Dialects.EXTENSIONS + " header"));
    }
}
