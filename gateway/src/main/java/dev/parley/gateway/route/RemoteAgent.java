package dev.parley.gateway.route;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Properties of a remote agent.
 *
 * @param extensions URIs of the extensions on its card
 * @param always URIs of those that each call activates
 * @param extendedCard rewrites its extended card; null if it has none
 * @param webhooks of callers
 * @param waits whether it answers messages with the outcome only, as those of 0.1
 * @param streams whether it has streams; else those of callers are served from reads
 * @param hidden texts that callers must not see, such as its host
 */
public record RemoteAgent(
        Set<String> extensions,
        Set<String> always,
        @Nullable UnaryOperator<AgentCard> extendedCard,
        RemoteWebhooks webhooks,
        boolean waits,
        boolean streams,
        List<String> hidden) {
    /** The context of a call of the agent, which learns of no extension that it does not have. */
    CallContext activated(CallContext caller) {
        if (caller.extensions().isEmpty() && always.isEmpty()) {
            return caller;
        }
        var both = new HashSet<>(caller.extensions());
        both.retainAll(extensions);
        both.addAll(always);
        return caller.withExtensions(both);
    }
}
