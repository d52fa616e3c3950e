package dev.parley.dialect.spi;

import dev.parley.protocol.AgentCard;
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
public interface DialectProvider extends WireFace {
    /** Name in settings, metrics and logs: lower-case letters, digits and dots. */
    String name();

    /** Suffix of an agent's address, such as {@code /plain}. */
    String suffix();

    /** The interface of an agent in this dialect, on the card of an agent that is served in no version of A2A. */
    AgentCard.Interface at(String agentUrl);

    /**
     * The notification of an event to a webhook that was registered in this dialect; null if it has none for the event. Default: as in
     * A2A 1.0.
     *
     * @param task returns the task as it stands after the event
     */
    default @Nullable Notification notification(PushConfig config, LoggedEvent event, Supplier<Task> task) {
        return Notification.v1(event);
    }

    /**
     * Whether webhooks of this dialect for tasks of one caller in one context, at one address, are called in the order of the tasks' events.
     * Default: only the events of one task have an order.
     */
    default boolean ordersContexts() {
        return false;
    }

    /** The client's side for an interface of a card; empty if that is in another dialect. */
    Optional<Binding> binding(AgentCard.Interface agent);
}
