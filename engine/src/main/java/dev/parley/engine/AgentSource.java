package dev.parley.engine;

import java.util.Collection;

/**
 * Gives a hub agents to host; found by {@link java.util.ServiceLoader} in the archives named by {@code --agents}.
 */
public interface AgentSource {
    /** The agents, in the order in which the hub shall list them. */
    Collection<Agent> agents();
}
