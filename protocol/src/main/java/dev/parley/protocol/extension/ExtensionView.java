package dev.parley.protocol.extension;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import java.util.function.Function;

/**
 * Typed access to an extension for the handlers of agents that use it: a constant of the extension, by which an agent declares the use
 * and a request returns the view.
 *
 * @param uri as {@link ExtensionProtocol#uri}
 * @param view makes the view for one call of a handler
 * @param <V> type of the view
 */
public record ExtensionView<V>(String uri, Function<Use, V> view) {
    public ExtensionView {
        requireNonNull(uri, "uri");
        requireNonNull(view, "view");
    }

    /**
     * The extension during one call of a handler.
     *
     * @param operations answers the operations of the extension
     * @param agent name of the agent that uses it
     * @param taskId the task of the call
     * @param caller of the agent
     */
    public record Use(AgentEndpoint operations, String agent, String taskId, CallContext caller) {}
}
