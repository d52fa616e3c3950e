package dev.parley.mcp.hub;

import dev.parley.extension.HubAgents;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Listeners for agents that a hub begins to host, describes anew or hosts no longer. Safe for any thread. */
final class HubChanges {
    private final Set<Listener> listeners = ConcurrentHashMap.newKeySet();

    /** By identity, so that equal ones are two. */
    private static final class Listener {
        private final Consumer<String> target;

        Listener(Consumer<String> target) {
            this.target = target;
        }
    }

    /** Begins to follow the agents of a hub. */
    void follow(HubAgents agents) {
        agents.onHosted((agent, card) -> changed(agent));
        agents.onRemoved(this::changed);
    }

    private void changed(String agent) {
        listeners.forEach(listener -> listener.target.accept(agent));
    }

    AutoCloseable add(Consumer<String> target) {
        var listener = new Listener(target);
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }
}
