package dev.parley.engine;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionUri;
import dev.parley.protocol.extension.OwnMethod;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Extension of the protocol, with its handlers in an agent.
 *
 * @param card its entry in cards. A URI that begins with {@value #PATH} is a path below the URL of the hub, which serves the
 *     specification there
 * @param needs URIs of the extensions that a caller has to activate with it
 * @param methods JSON-RPC methods that it adds to an agent, by name; their callers are authenticated like callers of the agent
 * @param protocol its operations on the wire; null for none
 * @param handlers of its operations, by name
 * @param specification in Markdown; null if it is not published here
 */
public record AgentExtension(
        Extension card,
        List<String> needs,
        Map<String, OwnMethod> methods,
        @Nullable ExtensionProtocol protocol,
        Map<String, AgentEndpoint> handlers,
        @Nullable String specification) {
    /** Prefix of the paths of a hub's extensions. */
    public static final String PATH = "/extensions/";

    public AgentExtension {
        requireNonNull(card, "card");
        needs = List.copyOf(needs);
        methods = Map.copyOf(methods);
        handlers = Map.copyOf(handlers);
        if (card.uri().startsWith("/") && !card.uri().matches(PATH + "[A-Za-z0-9._/-]*[A-Za-z0-9]")) {
            throw new IllegalArgumentException("uri: " + card.uri() + " (expected: " + PATH + "name/version)");
        }
    }

    /** Returns an extension without methods or operations, such as data on the card. */
    public static AgentExtension of(Extension card) {
        return new AgentExtension(card, List.of(), Map.of(), null, Map.of(), null);
    }

    /** Returns an optional extension without methods or operations. */
    public static AgentExtension of(String uri, String description) {
        return of(new Extension(uri, description, false, Map.of()));
    }

    /** Returns this extension with the requirement that callers activate other extensions too. */
    public AgentExtension needing(String... uris) {
        return new AgentExtension(card, List.of(uris), methods, protocol, handlers, specification);
    }

    /** Adds a method. */
    public AgentExtension method(String name, OwnMethod method) {
        var more = new LinkedHashMap<String, OwnMethod>(methods);
        more.put(name, method);
        return new AgentExtension(card, needs, more, protocol, handlers, specification);
    }

    /** Returns an extension with operations; {@link #call} and {@link #watch} add their handlers. */
    public static AgentExtension of(ExtensionProtocol protocol, String description) {
        var card = new Extension(protocol.uri(), description, false, Map.of());
        return new AgentExtension(card, List.of(), Map.of(), protocol, Map.of(), null);
    }

    /**
     * Adds the handler of an operation with one answer.
     *
     * @throws IllegalArgumentException if the extension has no such operation
     */
    public <A, O extends Operation.ExtensionCall<A>> AgentExtension call(Class<O> type, CallHandler<O, A> handler) {
        return with(type, answering(type, handler));
    }

    /**
     * Adds the handler of a streaming operation.
     *
     * @throws IllegalArgumentException if the extension has no such operation
     */
    public <E, O extends Operation.ExtensionWatch<E>> AgentExtension watch(Class<O> type, WatchHandler<O, E> handler) {
        return with(type, streaming(type, handler));
    }

    /** Adds all operations of {@code protocol}, which {@code handler} answers. */
    public AgentExtension operations(ExtensionProtocol protocol, AgentEndpoint handler) {
        var all = new LinkedHashMap<>(handlers);
        protocol.methods().forEach(method -> all.put(method.name(), handler));
        return new AgentExtension(card, needs, methods, protocol, all, specification);
    }

    private AgentExtension with(Class<? extends Operation> type, AgentEndpoint handler) {
        if (protocol != null) {
            for (ExtensionMethod<?, ?> method : protocol.methods()) {
                if (method.type().equals(type)) {
                    var all = new LinkedHashMap<>(handlers);
                    all.put(method.name(), handler);
                    return new AgentExtension(card, needs, methods, protocol, all, specification);
                }
            }
        }
        throw new IllegalArgumentException(
                "extension " + card.uri() + ": no operation " + type.getSimpleName() + " (expected: one of its rows)");
    }

    /**
     * Returns a call with those extensions of an agent that it activates, the same for all operations.
     *
     * <p>Source: A2A specification 1.0, sections 3.3.4 and 4.6.
     *
     * @param own URI of the extension whose method is called: naming the method activates it, as its clients know no header; null for
     *     other operations
     * @throws A2AException EXTENSION_SUPPORT_REQUIRED if the call lacks an extension that the agent requires, or that one of those
     *     that it activates needs
     */
    public static CallContext activated(List<AgentExtension> extensions, @Nullable String own, CallContext caller) {
        Set<String> named = caller.extensions();
        if (own != null && !named.contains(own)) {
            named = new HashSet<>(named);
            named.add(own);
        }
        Set<String> known = Set.of();
        for (AgentExtension extension : extensions) {
            String uri = extension.card().uri();
            if (ExtensionUri.isAny(named, uri)) {
                known = known.isEmpty() ? new HashSet<>() : known;
                for (String name : named) {
                    if (ExtensionUri.isSame(name, uri)) {
                        known.add(name); // as the caller knows it
                    }
                }
                for (String needed : extension.needs()) {
                    if (!ExtensionUri.isAny(named, needed)) {
                        throw missing("The extension " + uri + " needs the extension ", needed);
                    }
                }
            } else if (extension.card().required()) {
                throw missing("This agent requires the extension ", uri);
            }
        }
        return known.equals(caller.extensions()) ? caller : caller.withExtensions(known);
    }

    private static A2AException missing(String reason, String uri) {
        return A2AException.of(
                A2AError.EXTENSION_SUPPORT_REQUIRED,
                reason + uri + " (expected: named in the A2A-Extensions header)",
                Map.of("extension", uri));
    }

    /** Answers an operation. Called on a virtual thread for each call, and may block. */
    @FunctionalInterface
    public interface CallHandler<O, A> {
        /**
         * @param caller the caller, with its group, scopes and deadline
         * @throws A2AException for the caller; anything else is an internal error
         */
        A call(O operation, CallContext caller);
    }

    /** Opens the stream that answers an operation. Called on a virtual thread for each call, and may block. */
    @FunctionalInterface
    public interface WatchHandler<O, E> {
        /**
         * @param caller the caller, with its group, scopes and deadline
         * @throws A2AException for the caller; anything else is an internal error
         */
        Feed<E> watch(O operation, CallContext caller);
    }

    /** Adds the specification, in Markdown. */
    public AgentExtension specified(String markdown) {
        return new AgentExtension(card, needs, methods, protocol, handlers, markdown);
    }

    /** Returns this extension with URIs below {@code url}, the URL of a hub. */
    public AgentExtension at(String url) {
        var placed = new Extension(at(url, card.uri()), card.description(), card.required(), card.params());
        return new AgentExtension(
                placed, needs.stream().map(uri -> at(url, uri)).toList(), methods, protocol, handlers, specification);
    }

    private static String at(String url, String uri) {
        return uri.startsWith("/") ? url + uri : uri;
    }

    /** An endpoint that answers one operation, and refuses all others with METHOD_NOT_FOUND. */
    public static <A, O extends Operation.ExtensionCall<A>> AgentEndpoint answering(
            Class<O> type, CallHandler<? super O, ? extends A> handler) {
        return new OneHandler<>(type, handler::call);
    }

    /** An endpoint that answers one streaming operation, and refuses all others with METHOD_NOT_FOUND. */
    public static <E, O extends Operation.ExtensionWatch<E>> AgentEndpoint streaming(
            Class<O> type, WatchHandler<O, E> handler) {
        return new OneHandler<>(type, handler::watch);
    }

    /**
     * Handler of one operation as an endpoint, which refuses all others with METHOD_NOT_FOUND.
     *
     * @param handler returns the answer, or opens the stream, of the type that the operation names
     */
    @SuppressWarnings("unchecked") // the operation names the type of its answer, which the handler returns
    private record OneHandler<O extends Operation>(Class<O> type, BiFunction<O, CallContext, Object> handler)
            implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            return (R) result(operation, context);
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            return (Feed<E>) result(operation, context);
        }

        private Object result(Operation operation, CallContext context) {
            if (!type.isInstance(operation)) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
            return handler.apply(type.cast(operation), context);
        }
    }
}
