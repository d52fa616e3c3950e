package dev.parley.hub.extensions;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.MethodCall;
import dev.parley.protocol.extension.OwnMethod;
import java.util.HashMap;
import java.util.Map;

/** A method of an agent's own as an endpoint, which answers {@link MethodCall}s. */
public record OwnMethods(OwnMethod method) implements AgentEndpoint {
    /** The endpoints of methods by the methods' names. */
    public static Map<String, AgentEndpoint> of(Map<String, OwnMethod> methods) {
        var endpoints = new HashMap<String, AgentEndpoint>();
        methods.forEach((name, method) -> endpoints.put(name, new OwnMethods(method)));
        return endpoints;
    }

    @Override
    @SuppressWarnings("unchecked") // a method's result is any JSON
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        if (!(operation instanceof MethodCall call)) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND);
        }
        try {
            return (R) method.call(call.params(), context);
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new IllegalStateException("method " + call.name() + " failed", failure);
        }
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        throw A2AException.of(A2AError.METHOD_NOT_FOUND);
    }
}
