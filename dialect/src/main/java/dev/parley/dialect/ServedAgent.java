package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;

/**
 * An agent that a server answers for.
 *
 * @param name what it is called in its address
 * @param card its public card, with absolute interface URLs
 */
public record ServedAgent(String name, AgentEndpoint endpoint, AgentCard card) {
    public ServedAgent {
        requireNonNull(name, "name");
        requireNonNull(endpoint, "endpoint");
        requireNonNull(card, "card");
    }
}
