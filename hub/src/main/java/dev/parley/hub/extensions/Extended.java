package dev.parley.hub.extensions;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sends each operation to the endpoint that answers it: those of extensions by name, all others to the agent.
 *
 * @param agent null if there are only extensions
 * @param streams whether the agent streams
 */
public record Extended(@Nullable AgentEndpoint agent, Map<String, AgentEndpoint> extensions, boolean streams)
        implements AgentEndpoint {
    public Extended {
        extensions = Map.copyOf(extensions);
    }

    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        return endpoint(operation).call(operation, context);
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        AgentEndpoint endpoint = endpoint(operation);
        if (!streams && operation instanceof Operation.Extension) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION);
        }
        return endpoint.watch(operation, context);
    }

    private AgentEndpoint endpoint(Operation operation) {
        AgentEndpoint endpoint =
                operation instanceof Operation.Extension extension ? extensions.get(extension.name()) : agent;
        if (endpoint == null) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND);
        }
        return endpoint;
    }
}
