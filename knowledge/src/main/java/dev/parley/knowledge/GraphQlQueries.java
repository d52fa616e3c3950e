package dev.parley.knowledge;

import dev.parley.knowledge.spi.KnowledgeStoreException;
import dev.parley.knowledge.spi.View;
import dev.parley.protocol.KnowledgeOperation;
import graphql.language.OperationDefinition.Operation;
import graphql.normalized.ExecutableNormalizedField;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * GraphQL over a graph. Safe for any thread.
 *
 * <p>A query is prepared first, which asks nothing of its view, and then answered from one.
 */
final class GraphQlQueries {
    private final ChangeLog changes;
    private final GraphQlLimits limits;
    private final InstantSource clock;
    private final GraphQlSchema generic;

    GraphQlQueries(ChangeLog changes, GraphQlLimits limits, InstantSource clock) {
        this.changes = changes;
        this.limits = limits;
        this.clock = clock;
        generic = GraphQlSchema.of("", limits);
    }

    /**
     * What a query found.
     *
     * @param data the member {@code data} of a response in GraphQL
     * @param errors of fields that are null in it, as GraphQL writes them
     * @param truncated true if some page was cut off
     */
    record Answer(Map<String, @Nullable Object> data, List<Map<String, Object>> errors, boolean truncated) {
        Answer {
            errors = List.copyOf(errors);
        }
    }

    /** A query that may be asked. */
    @FunctionalInterface
    interface Prepared {
        /**
         * Answers it from a view.
         *
         * @throws dev.parley.protocol.A2AException KNOWLEDGE_QUERY if it takes too long, finds too much or fails
         */
        Answer answer(View view);
    }

    /**
     * Reads, validates and limits a query.
     *
     * @throws dev.parley.protocol.A2AException KNOWLEDGE_QUERY if it may not be asked
     */
    Prepared prepare(KnowledgeOperation.Query query) {
        Instant deadline = clock.instant().plus(limits.time());
        GraphQlSchema schema = generic;
        var prepared = schema.known(query.query());
        if (prepared == null || prepared.operation().getOperation() != Operation.QUERY) {
            prepared = schema.prepare(query.query(), GraphQlSchema.parse(query.query(), limits), Operation.QUERY);
        }
        var document = prepared;
        var fields = schema.normalized(document, query.variables()).getTopLevelFields();
        new GraphQlCost(schema.schema(), limits).check(fields);
        return view -> {
            var reader = new GraphQlReader(view, changes, limits, clock, deadline);
            var data = read(reader, fields);
            var errors = new ArrayList<>(reader.errors());
            if (fields.stream().anyMatch(GraphQlQueries::isIntrospection)) {
                var result = schema.introspect(document, query.variables(), data);
                errors.addAll(GraphQlFailure.specified(result.getErrors()));
                Map<String, @Nullable Object> all = result.getData();
                data = all == null ? Map.of() : all;
            }
            if (!errors.isEmpty() && data.values().stream().allMatch(value -> value == null)) {
                throw GraphQlFailure.EXECUTION.because(errors);
            }
            return new Answer(data, errors, reader.isTruncated());
        };
    }

    private Map<String, @Nullable Object> read(GraphQlReader reader, List<ExecutableNormalizedField> fields) {
        try {
            return reader.query(fields);
        } catch (KnowledgeStoreException failed) {
            if (failed.isTimeout()) {
                throw GraphQlFailure.TIMEOUT
                        .because("the query took more than " + limits.time())
                        .causedBy(failed);
            }
            throw failed;
        }
    }

    private static boolean isIntrospection(ExecutableNormalizedField field) {
        return field.getFieldName().equals("__schema") || field.getFieldName().equals("__type");
    }

    /** The schema in the schema language. */
    String schema() {
        return generic.text();
    }
}
