package dev.parley.extension;

import dev.parley.engine.AgentExtension;
import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.engine.AgentExtension.WatchHandler;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Handlers of operations of extensions by the names of their rows. Immutable. */
public final class Handlers {
    /** No handler. */
    public static final Handlers NONE = new Handlers(Map.of());

    private final Map<String, AgentEndpoint> byName;

    private Handlers(Map<String, AgentEndpoint> byName) {
        this.byName = Collections.unmodifiableMap(byName);
    }

    /** Returns these and the handler of an operation with one answer. */
    public <A, O extends Operation.ExtensionCall<A>> Handlers call(
            ExtensionMethod<O, A> row, CallHandler<? super O, ? extends A> handler) {
        return with(row.name(), AgentExtension.answering(row.type(), handler));
    }

    /** Returns these and the handler of a streaming operation. */
    public <E, O extends Operation.ExtensionWatch<E>> Handlers watch(
            ExtensionMethod<O, E> row, WatchHandler<O, E> handler) {
        return with(row.name(), AgentExtension.streaming(row.type(), handler));
    }

    /** Returns these and {@code others}, which win. */
    public Handlers and(Handlers others) {
        var all = new LinkedHashMap<>(byName);
        all.putAll(others.byName);
        return new Handlers(all);
    }

    /** Returns these and an endpoint that answers the operation of that name. */
    public Handlers with(String name, AgentEndpoint endpoint) {
        return and(new Handlers(Map.of(name, endpoint)));
    }

    /** Endpoints by the names of the operations that they answer; they refuse others with METHOD_NOT_FOUND. */
    public Map<String, AgentEndpoint> byName() {
        return byName;
    }
}
