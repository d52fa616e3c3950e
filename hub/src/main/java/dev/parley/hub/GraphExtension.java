package dev.parley.hub;

import dev.parley.engine.AgentExtension;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeProtocol;
import dev.parley.knowledge.api.KnowledgeTokenVerifier;
import org.jspecify.annotations.Nullable;

/** The knowledge graph of a hub as an extension of the agents that use it. */
final class GraphExtension {
    private GraphExtension() {}

    /**
     * The extension of one agent.
     *
     * @param hub address of the hub
     * @param agent address of the agent
     * @param streams whether the agent streams
     */
    static AgentExtension of(
            Graph graph, @Nullable KnowledgeTokenVerifier verifier, String hub, String agent, boolean streams) {
        return AgentExtension.of(KnowledgeExtension.of(hub, agent, graph.queryLanguages(), streams))
                .operations(KnowledgeProtocol.EXTENSION, new GraphTokens(graph, verifier).endpoint());
    }
}
