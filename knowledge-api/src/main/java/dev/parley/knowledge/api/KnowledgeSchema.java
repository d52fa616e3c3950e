package dev.parley.knowledge.api;

import dev.parley.protocol.Operation;

/**
 * Reads the GraphQL schema of a knowledge graph, which shows what a caller can query. It is authorized, counted and traced as the
 * query that it describes.
 */
public record KnowledgeSchema() implements Operation.ExtensionCall<String> {
    @Override
    public String name() {
        return KnowledgeOperation.QUERY;
    }
}
