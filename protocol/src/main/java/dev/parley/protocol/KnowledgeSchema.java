package dev.parley.protocol;

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
