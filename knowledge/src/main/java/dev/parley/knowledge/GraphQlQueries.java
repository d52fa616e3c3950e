package dev.parley.knowledge;

import dev.parley.knowledge.spi.KnowledgeStoreException;
import dev.parley.knowledge.spi.View;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.KnowledgeOperation.Change;
import graphql.language.OperationDefinition.Operation;
import graphql.normalized.ExecutableNormalizedField;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
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
         * @throws A2AException KNOWLEDGE_QUERY if it takes too long, finds too much or fails
         */
        Answer answer(View view);
    }

    /**
     * Reads, validates and limits a query.
     *
     * @throws A2AException KNOWLEDGE_QUERY if it may not be asked
     */
    Prepared prepare(KnowledgeOperation.Query query) {
        Instant deadline = clock.instant().plus(limits.time());
        GraphQlSchema schema = generic;
        var document = document(schema, query.query(), Operation.QUERY);
        var fields = schema.normalized(document, query.variables()).getTopLevelFields();
        new GraphQlCost(schema.schema(), limits).check(fields);
        return view -> {
            var reader = reader(view, deadline);
            var data = within(() -> reader.query(fields));
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

    private GraphQlSchema.Prepared document(GraphQlSchema schema, String text, Operation kind) {
        var known = schema.known(text);
        return known != null && known.operation().getOperation() == kind
                ? known
                : schema.prepare(text, GraphQlSchema.parse(text, limits), kind);
    }

    private GraphQlReader reader(View view, Instant deadline) {
        return new GraphQlReader(view, changes, limits, clock, deadline);
    }

    private <T> T within(Supplier<T> question) {
        try {
            return question.get();
        } catch (KnowledgeStoreException failed) {
            if (failed.isTimeout()) {
                throw GraphQlFailure.TIMEOUT
                        .because("the query took more than " + limits.time())
                        .causedBy(failed);
            }
            throw failed;
        }
    }

    /**
     * Reads, validates and limits a subscription.
     *
     * @throws A2AException KNOWLEDGE_SUBSCRIPTION if it may not be opened
     */
    GraphQlSubscription prepare(KnowledgeOperation.Subscribe subscription) {
        try {
            var prepared = document(generic, subscription.query(), Operation.SUBSCRIPTION);
            var fields = generic.normalized(prepared, subscription.variables()).getTopLevelFields();
            new GraphQlCost(generic.schema(), limits).check(fields);
            if (fields.size() != 1 || !fields.getFirst().getFieldName().equals("knowledgeChanged")) {
                throw GraphQlFailure.OPERATION.because("expected: the one field knowledgeChanged");
            }
            var arguments = new GraphQlArguments(fields.getFirst().getResolvedArguments());
            return new Watched(filter(arguments.object("filter")), fields.getFirst());
        } catch (A2AException refused) {
            throw A2AException.of(
                    A2AError.KNOWLEDGE_SUBSCRIPTION,
                    A2AError.KNOWLEDGE_SUBSCRIPTION.defaultMessage(),
                    refused.metadata());
        }
    }

    private static ChangeFilter filter(GraphQlArguments filter) {
        try {
            return ChangeFilter.of(filter);
        } catch (InvalidField unfit) {
            throw GraphQlFailure.VALIDATION.because(String.valueOf(unfit.getMessage()));
        }
    }

    private final class Watched implements GraphQlSubscription {
        private final ChangeFilter filter;
        private final ExecutableNormalizedField field;

        Watched(ChangeFilter filter, ExecutableNormalizedField field) {
            this.filter = filter;
            this.field = field;
        }

        @Override
        public ChangeFilter filter() {
            return filter;
        }

        @Override
        public Map<String, @Nullable Object> project(Change change, View view) {
            return within(
                    () -> reader(view, clock.instant().plus(limits.time())).change(change, field));
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
