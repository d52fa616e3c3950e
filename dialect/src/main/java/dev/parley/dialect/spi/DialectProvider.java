package dev.parley.dialect.spi;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A dialect at an address of its own below the address of each agent that is served in it; for servers and for clients. Providers
 * on the class path are found by {@link java.util.ServiceLoader}. Stateless, safe for any thread.
 */
public interface DialectProvider {
    /** Name in settings, metrics and logs: lower-case letters, digits and dots. */
    String name();

    /** Suffix of an agent's address, such as {@code /plain}. */
    String suffix();

    /** The interface of an agent in this dialect, on the card of an agent that is served in no version of A2A. */
    AgentCard.Interface at(String agentUrl);

    /** True for a request that needs no credentials, such as one for a card of this dialect. */
    default boolean isPublic(WireRequest request) {
        return false;
    }

    /**
     * The answer to a request that calls no operation, such as one for a card of this dialect; null for one that does.
     *
     * @param card public card of the agent
     * @throws A2AException to refuse the request
     */
    default WireAnswer.@Nullable Whole document(WireRequest request, AgentCard card) {
        return null;
    }

    /**
     * Reads a request. The agent then answers the call behind authorization, limits, metrics, traces and audit. Large requests and results
     * are read and written on the platform threads for such work.
     *
     * @param card public card of the agent
     * @param caller the caller, in this dialect
     * @throws A2AException to refuse the request; any other exception is an internal error
     */
    WireCall read(WireRequest request, AgentCard card, CallContext caller);

    /** The answer to a request that was refused or failed. Its body may be missing. */
    WireAnswer.Whole error(WireRequest request, A2AException problem);

    /**
     * The notification of an event to a webhook that was registered in this dialect; null if it has none for the event. Default: as in
     * A2A 1.0.
     *
     * @param task returns the task as it stands after the event
     */
    default @Nullable Notification notification(PushConfig config, LoggedEvent event, Supplier<Task> task) {
        return Notification.v1(event);
    }

    /** The client's side for an interface of a card; empty if that is in another dialect. */
    Optional<Binding> binding(AgentCard.Interface agent);
}
