package dev.parley.registry.client;

import dev.parley.client.AgentClient;
import dev.parley.protocol.SendResult;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Results of a search, the best first.
 *
 * @param peers outcome of each peer of the registry, as JSON
 * @param revoked results that are left out because they are on the list of revocations
 */
public record Results(String text, List<Found> all, List<?> peers, List<Found> revoked) {
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

    /**
     * A result.
     *
     * @param json as the registry answered it, an entry of ARD with {@code score} and {@code source}
     */
    public record Found(Registry registry, Map<?, ?> json) {
        /** URN of the agent. */
        public String id() {
            return text("identifier");
        }

        public String name() {
            return text("displayName");
        }

        /** 0 to 100; says nothing about trust. */
        public int score() {
            return json.get("score") instanceof Number number ? number.intValue() : 0;
        }

        /** Address of the registry that has the agent. */
        public String source() {
            return text("source");
        }

        /** What the search matched, as JSON; null if the source does not say. */
        public @Nullable Object why() {
            return json.get("parley:why");
        }

        /** A client of the agent. */
        public AgentClient connect() {
            return registry.connectTo(json);
        }

        /** Sends a text to the agent, and waits until its task settles. */
        public SendResult send(String text) {
            try (AgentClient agent = connect()) {
                return agent.send(text);
            }
        }

        private String text(String name) {
            return json.get(name) instanceof String text ? text : "";
        }
    }
}
