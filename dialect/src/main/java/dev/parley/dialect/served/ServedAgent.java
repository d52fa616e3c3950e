package dev.parley.dialect.served;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.legacy.KernelCard;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionUri;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An agent that a server answers for.
 *
 * @param name segment of its address
 * @param served its public card, with absolute interface URLs
 * @param dialects in which it is served, out of {@code Dialects.NAMES}; with only {@code 1.0} its card has no members
 *     for older readers
 * @param extensions the operations of its extensions and its own methods, which its endpoint answers as well
 * @param door stands before the endpoint for what a caller asks, once for each request; what a dialect looks up besides
 *     goes past it
 * @param traffic counts the bytes of calls
 * @param listed false if lists of agents leave it out
 */
public record ServedAgent(
        String name,
        AgentEndpoint endpoint,
        ServedCard served,
        Set<String> dialects,
        ExtensionTable extensions,
        UnaryOperator<AgentEndpoint> door,
        Traffic traffic,
        boolean listed) {
    /** Counts the bytes of a call: of its request and answer, or of an element of its stream. */
    @FunctionalInterface
    public interface Traffic {
        void carried(Operation operation, CallContext caller, long received, long sent);
    }

    public ServedAgent {
        requireNonNull(name, "name");
        requireNonNull(endpoint, "endpoint");
        requireNonNull(served, "served");
        requireNonNull(extensions, "extensions");
        requireNonNull(door, "door");
        requireNonNull(traffic, "traffic");
        dialects = Set.copyOf(dialects);
        if (dialects.isEmpty() || !Providers.NAMES.containsAll(dialects)) {
            throw new IllegalArgumentException(
                    "dialects: " + dialects + " (expected: some of " + String.join(", ", Providers.NAMES) + ")");
        }
    }

    /** An agent without observation of its requests. */
    public ServedAgent(
            String name, AgentEndpoint endpoint, ServedCard served, Set<String> dialects, ExtensionTable extensions) {
        this(
                name,
                endpoint,
                served,
                dialects,
                extensions,
                UnaryOperator.identity(),
                (operation, caller, received, sent) -> {},
                true);
    }

    /** An agent with an unsigned card, without operations of extensions. */
    public ServedAgent(String name, AgentEndpoint endpoint, AgentCard card, Set<String> dialects) {
        this(name, endpoint, ServedCard.unsigned(card), dialects, ExtensionTable.EMPTY);
    }

    /** An agent that is served in every dialect. */
    public ServedAgent(String name, AgentEndpoint endpoint, AgentCard card) {
        this(name, endpoint, card, Providers.NAMES);
    }

    /** Its public card, with the signatures that it has in A2A 1.0. */
    public AgentCard card() {
        return served.card();
    }

    /** Reads the URIs of extensions in a header, or in metadata of gRPC. */
    public static Set<String> extensions(@Nullable String header) {
        if (header == null) {
            return Set.of();
        }
        var uris = new LinkedHashSet<String>();
        for (String uri : header.split(",", -1)) {
            if (!uri.isBlank()) {
                uris.add(uri.trim());
            }
        }
        return uris;
    }

    /** The extensions that a caller asked for and the agent has, as the caller names them, as the header that tells so; empty for none. */
    public String activated(Set<String> asked) {
        return asked.isEmpty()
                ? ""
                : card().capabilities().extensions().stream()
                        .map(AgentCard.Extension::uri)
                        .flatMap(uri -> asked.stream().filter(name -> ExtensionUri.isSame(name, uri)))
                        .collect(Collectors.joining(", "));
    }

    /** The same agent in front of which another endpoint stands. */
    public ServedAgent with(AgentEndpoint other) {
        return new ServedAgent(name, other, served, dialects, extensions, door, traffic, listed);
    }

    /**
     * Has the agent answer a call, through the door.
     *
     * @param received bytes of the request
     */
    public WireAnswer exchange(WireCall call, CallContext caller, long received) {
        Operation operation = call.operation();
        operation.requireShortIds();
        AgentEndpoint shown = door.apply(call.view().apply(endpoint));
        WireAnswer answer = call.answer()
                .apply(
                        switch (operation) {
                            case Operation.Call<?> one -> shown.call(one, caller);
                            case Operation.Watch<?> stream -> shown.watch(stream, caller);
                        });
        traffic.carried(
                operation, caller, received, answer instanceof WireAnswer.Whole whole ? whole.body().length : 0);
        return answer instanceof WireAnswer.Events events
                ? new WireAnswer.Events(
                        events.headers(), events.frames().as(frame -> sent(operation, caller, frame)), events.failure())
                : answer;
    }

    private byte[] sent(Operation operation, CallContext caller, byte[] element) {
        traffic.carried(operation, caller, 0, element.length);
        return element;
    }

    public boolean speaks(String dialect) {
        return dialects.contains(dialect);
    }

    /** True if no version of A2A has the methods of the Agentic Kernel, which is then answered at the agent's own address. */
    public boolean speaksKernelAtRoot() {
        return speaks(KernelCard.VERSION) && !speaks("0.3") && !speaks("0.1");
    }
}
