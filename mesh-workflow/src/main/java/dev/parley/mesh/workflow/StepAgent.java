package dev.parley.mesh.workflow;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;

/** An agent of a step: of the hub, or elsewhere. */
sealed interface StepAgent permits StepAgent.OfHub, ForeignAgents.Foreign {
    /** An agent of the hub. */
    record OfHub(AgentEndpoint endpoint, AgentCard card) implements StepAgent {}

    AgentEndpoint endpoint();

    AgentCard card();

    default boolean streams() {
        return Boolean.TRUE.equals(card().capabilities().streaming());
    }

    default boolean isForeign() {
        return this instanceof ForeignAgents.Foreign;
    }
}
