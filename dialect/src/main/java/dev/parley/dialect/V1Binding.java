package dev.parley.dialect;

import dev.parley.protocol.AgentCard;
import java.util.Optional;

/** The two HTTP bindings of A2A 1.0, as a client speaks them. */
final class V1Binding {
    private V1Binding() {}

    static Optional<Binding> of(AgentCard.Interface agent) {
        throw new UnsupportedOperationException(agent.url());
    }
}
