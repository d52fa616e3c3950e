package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An agent that a server answers for.
 *
 * @param name what it is called in its address
 * @param card its public card, with absolute interface URLs
 * @param dialects in which it is served, out of {@link Dialects#NAMES}; with {@code 1.0} alone its card has no members
 *     for older readers
 * @param knowledge the knowledge graph that it lets its callers use; null for none
 */
public record ServedAgent(
        String name,
        AgentEndpoint endpoint,
        AgentCard card,
        Set<String> dialects,
        @Nullable ServedKnowledge knowledge) {
    public ServedAgent {
        requireNonNull(name, "name");
        requireNonNull(endpoint, "endpoint");
        requireNonNull(card, "card");
        dialects = Set.copyOf(dialects);
        if (dialects.isEmpty() || !Dialects.NAMES.containsAll(dialects)) {
            throw new IllegalArgumentException(
                    "dialects: " + dialects + " (expected: some of " + String.join(", ", Dialects.NAMES) + ")");
        }
    }

    /** An agent without a knowledge graph. */
    public ServedAgent(String name, AgentEndpoint endpoint, AgentCard card, Set<String> dialects) {
        this(name, endpoint, card, dialects, null);
    }

    /** An agent that is served in every dialect. */
    public ServedAgent(String name, AgentEndpoint endpoint, AgentCard card) {
        this(name, endpoint, card, Dialects.NAMES);
    }

    boolean speaks(String dialect) {
        return dialects.contains(dialect);
    }
}
