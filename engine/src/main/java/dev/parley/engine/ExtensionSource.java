package dev.parley.engine;

import java.util.Collection;

/**
 * Gives all agents of a hub extensions; found by {@link java.util.ServiceLoader} in the archives named by {@code --agents}.
 */
public interface ExtensionSource {
    /** The extensions, in the order in which cards shall list them. */
    Collection<AgentExtension> extensions();
}
