package dev.parley.registry.client;

import dev.parley.client.AgentClient;
import dev.parley.protocol.SendResult;
import dev.parley.registry.SearchOperation.Reasons;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Results of a search, the best first.
 *
 * @param peers outcome of each peer of the registry
 * @param revoked results that are left out because they are on the list of revocations
 */
public record Results(String text, List<Found> all, List<PeerOutcome> peers, List<Found> revoked) {
    public Results {
        all = List.copyOf(all);
        peers = List.copyOf(peers);
        revoked = List.copyOf(revoked);
    }

    /**
     * The best result.
     *
     * @throws RegistryException if there is none
     */
    public Found best() {
        if (all.isEmpty()) {
            String more = revoked.isEmpty() ? "" : ": " + revoked.size() + " revoked";
            throw new RegistryException("no agent found for \"" + text + "\"" + more);
        }
        return all.getFirst();
    }

    /** A result. */
    public static final class Found {
        private final Registry registry;
        private final SearchAnswer.Result result;

        Found(Registry registry, SearchAnswer.Result result) {
            this.registry = registry;
            this.result = result;
        }

        /** URN of the agent. */
        public String id() {
            return result.identifier();
        }

        public String name() {
            return result.name();
        }

        /** 0 to 100; says nothing about trust. */
        public int score() {
            return result.score();
        }

        /** Address of the registry that has the agent. */
        public String source() {
            return result.source();
        }

        /** Matches of the search; null if the source does not say. */
        public @Nullable Reasons why() {
            return result.reasons();
        }

        /** JSON of the result as the registry answered it: an entry of ARD with {@code score} and {@code source}. */
        public byte[] json() {
            return result.json().clone();
        }

        /** A client of the agent. */
        public AgentClient connect() {
            return registry.connectTo(result);
        }

        /** Sends a text to the agent, and waits until its task settles. */
        public SendResult send(String text) {
            try (AgentClient agent = connect()) {
                return agent.send(text);
            }
        }
    }
}
