/**
 * The operations of the knowledge graph extension, for agents that use a graph and for clients.
 *
 * <pre>{@code
 * Agent sensor = Agent.named("sensor", "Notes temperatures")
 *         .uses(SharedKnowledge.VIEW)
 *         .handle((request, reply) -> {
 *             SharedKnowledge graph = request.extension(SharedKnowledge.VIEW);
 *             graph.update("read", Patch.add(Statement.of("ex:pump-1", "ex:temperature", Literal.of(92))));
 *             reply.complete("noted");
 *         });
 * KnowledgeEndpoint graph = KnowledgeExtension.endpoint(client, client.card());
 * }</pre>
 */
@NullMarked
package dev.parley.knowledge.api;

import org.jspecify.annotations.NullMarked;
