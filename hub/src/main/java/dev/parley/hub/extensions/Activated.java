package dev.parley.hub.extensions;

import dev.parley.engine.AgentExtension;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An operation of an extension, or a method of an agent's own, whose callers activate extensions as those of messages do.
 *
 * @param extensions of the agent
 * @param own URI of the extension; null for a method of the agent
 */
public record Activated(
        AgentEndpoint endpoint,
        List<AgentExtension> extensions,
        @Nullable String own) implements AgentEndpoint {
    /** The handlers of an agent by their names, each after the activation of the agent's extensions. */
    public static Map<String, AgentEndpoint> of(Map<String, AgentEndpoint> handlers, List<AgentExtension> extensions) {
        var activated = new LinkedHashMap<String, AgentEndpoint>();
        handlers.forEach((name, handler) -> activated.put(name, new Activated(handler, extensions, null)));
        for (AgentExtension extension : extensions) {
            String uri = extension.card().uri();
            handlers.forEach((name, handler) -> {
                if (extension.methods().containsKey(name)
                        || extension.handlers().containsKey(name)) {
                    activated.put(name, new Activated(handler, extensions, uri));
                }
            });
        }
        return activated;
    }

    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        return endpoint.call(operation, AgentExtension.activated(extensions, own, context));
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return endpoint.watch(operation, AgentExtension.activated(extensions, own, context));
    }
}
