/**
 * Client of the mesh.
 *
 * <pre>{@code
 * var planner = OneIdentity.of("planner", "https://a.example/agents/planner/one");
 * try (var researcher = OneClient.connect(planner, AgentClient.connect("https://b.example/agents/researcher"))) {
 *     var delegated = researcher.send(TaskDelegation.of("research").parameter("topic", "graphs"));
 *     System.out.println(delegated.result().get().result());
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.mesh.client;

import org.jspecify.annotations.NullMarked;
