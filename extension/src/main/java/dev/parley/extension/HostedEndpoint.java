package dev.parley.extension;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import org.jspecify.annotations.Nullable;

/**
 * An agent whose operations an endpoint answers, instead of tasks of the hub: for instance one elsewhere. Authorization, limits, metrics,
 * traces and the audit stand before it as before any agent.
 *
 * @param name segment of its address, other than the names of the agents of the hub
 * @param card its card; the hub replaces the interfaces by its own, and the security by that of its callers, and signs it. The extended
 *     card, which the endpoint answers, is changed alike.
 * @param endpoint answers the operations of A2A. Operations of extensions end with METHOD_NOT_FOUND, unless it has some.
 * @param verbatim document that is served in place of {@code card}, byte for byte; null for none
 */
public record HostedEndpoint(String name, AgentCard card, AgentEndpoint endpoint, byte @Nullable [] verbatim) {}
