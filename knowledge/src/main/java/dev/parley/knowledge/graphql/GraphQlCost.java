package dev.parley.knowledge.graphql;

import graphql.normalized.ExecutableNormalizedField;
import graphql.schema.GraphQLSchema;
import java.util.List;

/** Estimates the cost of a query before it runs. */
final class GraphQlCost {
    /** Assumed number of statements about an entity, or pointing to it, if the query gives no limit. */
    private static final int USUAL_PAGE = 10;

    /** Assumed number of values of one predicate. */
    private static final int USUAL_LIST = 3;

    private static final double LEAF = 0.1;

    private final GraphQLSchema schema;
    private final GraphQlLimits limits;

    GraphQlCost(GraphQLSchema schema, GraphQlLimits limits) {
        this.schema = schema;
        this.limits = limits;
    }

    /**
     * Refuses a query that is too expensive.
     *
     * @throws dev.parley.protocol.A2AException DEPTH or COMPLEXITY
     */
    void check(List<ExecutableNormalizedField> fields) {
        double complexity = of(fields);
        if (complexity > limits.complexity()) {
            throw GraphQlFailure.COMPLEXITY.because("the query may find " + (long) Math.ceil(complexity)
                    + " objects (expected: at most " + limits.complexity() + "); ask for shorter pages with first");
        }
    }

    private double of(List<ExecutableNormalizedField> fields) {
        double sum = 0;
        for (var field : fields) {
            sum += of(field);
        }
        return sum;
    }

    private double of(ExecutableNormalizedField field) {
        if (field.getFieldName().startsWith("__")) {
            return LEAF;
        }
        if (field.getLevel() > limits.depth()) {
            throw GraphQlFailure.DEPTH.because("fields are nested more than " + limits.depth() + " deep");
        }
        double within = field.hasChildren() ? 1 + of(field.getChildren()) : LEAF;
        return length(field) * within;
    }

    private int length(ExecutableNormalizedField field) {
        if (field.getResolvedArguments().get("first") instanceof Integer first) {
            return Math.max(1, first);
        }
        var definition = field.getFieldDefinitions(schema).getFirst();
        if (definition.getArgument("first") == null) {
            return 1;
        }
        boolean isPage = definition.getArgument("after") != null;
        return field.getLevel() == 1 ? GraphQlLimits.DEFAULT_PAGE : isPage ? USUAL_PAGE : USUAL_LIST;
    }
}
