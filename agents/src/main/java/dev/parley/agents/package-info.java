/**
 * Agents that do real work without a model: to try a hub, a client or a network with.
 *
 * <pre>{@code
 * try (Engine engine = Engine.builder(new MemoryTaskLog()).build()) {
 *     for (Agent agent : DemoAgents.all()) {
 *         engine.host(agent);
 *     }
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.agents;

import org.jspecify.annotations.NullMarked;
