package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.changes.ChangeLog;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.graphql.TypedSchemas.Readers;
import dev.parley.knowledge.graphql.TypedSchemas.Typed;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.store.StatementStore;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.support.Lazy;
import graphql.language.Argument;
import graphql.language.EnumValue;
import graphql.language.Field;
import graphql.language.Node;
import graphql.language.ObjectField;
import graphql.language.OperationDefinition.Operation;
import graphql.language.StringValue;
import graphql.normalized.ExecutableNormalizedField;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * GraphQL over a graph. Safe for any thread.
 *
 * <p>A query is prepared first, which asks nothing of its view, and then answered from one.
 */
public final class GraphQlQueries {
    private static final Pattern INTROSPECTION = Pattern.compile("__(schema|type)\\b");
    private static final TypedModel.Index NO_TYPES = TypedModel.EMPTY.index();

    private final ChangeLog changes;
    private final GraphQlLimits limits;
    private final LongSupplier nanoTime;
    /** Schema of every graph. Made at the first query, because it takes longer than opening a graph. */
    private final Lazy<GraphQlSchema> generic;

    private final TypedSchemas typed;

    /**
     * @param store of the graph; the types of a group's schema are read from it
     * @param declarations what else is declared of a group's classes and predicates
     * @param background runs what follows changes of the graph of a group
     */
    public GraphQlQueries(
            StatementStore store,
            Function<String, List<Statement>> declarations,
            ChangeLog changes,
            GraphQlLimits limits,
            LongSupplier nanoTime,
            BiConsumer<String, Runnable> background) {
        this.changes = changes;
        this.limits = limits;
        this.nanoTime = nanoTime;
        generic = new Lazy<>(() -> GraphQlSchema.of("", limits));
        typed = new TypedSchemas(store, declarations, limits, nanoTime, background);
    }

    /**
     * Result of a query.
     *
     * @param data the member {@code data} of a response in GraphQL
     * @param errors of fields that are null in it, as GraphQL writes them
     * @param truncated true if some page was cut off
     */
    public record Answer(Map<String, @Nullable Object> data, List<Map<String, Object>> errors, boolean truncated) {
        public Answer {
            errors = List.copyOf(errors);
        }
    }

    /** A query that may be asked. */
    @FunctionalInterface
    public interface Prepared {
        /**
         * Answers it from a view.
         *
         * @throws A2AException KNOWLEDGE_QUERY if it takes too long, finds too much or fails
         */
        Answer answer(View view);
    }

    /**
     * Reads, validates and limits a query. May read the graph for its types, so it must not be called while a view is read.
     *
     * @param group whose graph it is about
     * @param readFilter what the reader may see
     * @throws A2AException KNOWLEDGE_QUERY if it may not be asked
     */
    public Prepared prepare(KnowledgeOperation.Query query, String group, ReadFilter readFilter) {
        long deadline = deadline();
        var readers = new Readers(group, readFilter);
        var understood = understand(query.query(), readers);
        var schema = understood.schema();
        var fields = schema.normalized(understood.document(), query.variables()).getTopLevelFields();
        new GraphQlCost(schema.schema(), limits).check(fields);
        return view -> {
            var reader = reader(view, understood.index(), deadline);
            var data = within(() -> reader.query(fields));
            if (schema != generic.get()) {
                typed.seen(readers, view.revision());
            }
            var errors = new ArrayList<>(reader.errors());
            if (fields.stream().anyMatch(GraphQlQueries::isIntrospection)) {
                var result = schema.introspect(understood.document(), query.variables(), data);
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

    /** A document, the schema in whose terms it is written, and what the types of that mean. */
    private record Understood(GraphQlSchema schema, GraphQlSchema.Prepared document, TypedModel.Index index) {}

    /**
     * Tries the generic schema first, which never changes, unless the query asks about the schema itself; then the typed
     * one as it was, then as it is.
     */
    private Understood understand(String text, Readers readers) {
        var known = generic.get().known(text, Operation.QUERY);
        if (known != null) {
            return new Understood(generic.get(), known, NO_TYPES);
        }
        boolean introspects = INTROSPECTION.matcher(text).find();
        Typed before = introspects ? typed.latest(readers) : typed.known(readers);
        known = before == null ? null : before.schema().known(text, Operation.QUERY);
        if (before != null && known != null) {
            return new Understood(before.schema(), known, before.index());
        }
        var document = GraphQlSchema.parse(text, limits);
        if (!introspects && generic.get().understands(document)) {
            return new Understood(generic.get(), generic.get().admit(text, document, Operation.QUERY), NO_TYPES);
        }
        Typed current = before != null ? before : typed.current(readers);
        try {
            return new Understood(
                    current.schema(), current.schema().prepare(text, document, Operation.QUERY), current.index());
        } catch (A2AException misunderstood) {
            Typed latest = typed.latest(readers);
            if (latest.schema() == current.schema()) {
                throw misunderstood;
            }
            return new Understood(
                    latest.schema(), latest.schema().prepare(text, document, Operation.QUERY), latest.index());
        }
    }

    /**
     * True for what a query names: as a text, in its variables, or, if it is in terms of the types of its group, as a field,
     * an argument or within values. It is the same whether there are such types or not.
     *
     * @throws A2AException KNOWLEDGE_QUERY if it is not GraphQL
     */
    public Predicate<String> namedIn(KnowledgeOperation.Query query) {
        var known = generic.get().known(query.query(), Operation.QUERY);
        var document = known == null ? GraphQlSchema.parse(query.query(), limits) : known.document();
        var texts = new HashSet<String>();
        var fields = new HashSet<String>();
        collect(document, texts, fields);
        collect(query.variables(), texts, fields);
        Set<String> names = texts.stream().map(Term::expand).collect(Collectors.toSet());
        if (known != null || generic.get().understands(document)) {
            return names::contains;
        }
        fields.addAll(texts);
        return name -> names.contains(name) || fields.stream().anyMatch(field -> TypedNames.mayShow(field, name));
    }

    private static void collect(Node<?> node, Set<String> texts, Set<String> fields) {
        switch (node) {
            case StringValue text -> texts.add(text.getValue());
            case Field field -> fields.add(field.getName());
            case Argument argument -> fields.add(argument.getName());
            case ObjectField field -> fields.add(field.getName());
            case EnumValue value -> fields.add(value.getName());
            default -> {}
        }
        node.getChildren().forEach(child -> collect(child, texts, fields));
    }

    private static void collect(@Nullable Object value, Set<String> texts, Set<String> fields) {
        switch (value) {
            case String text -> texts.add(text);
            case Map<?, ?> members ->
                members.forEach((name, member) -> {
                    fields.add(name.toString());
                    collect(member, texts, fields);
                });
            case Collection<?> elements -> elements.forEach(element -> collect(element, texts, fields));
            case null, default -> {}
        }
    }

    private long deadline() {
        return nanoTime.getAsLong() + limits.time().toNanos();
    }

    private GraphQlReader reader(View view, TypedModel.Index types, long deadline) {
        return new GraphQlReader(view, changes, types, limits, nanoTime, deadline);
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
    public GraphQlSubscription prepare(KnowledgeOperation.Subscribe subscription) {
        try {
            String text = subscription.query();
            if (text.length() + Characters.of(subscription.variables()) > limits.characters()) {
                throw GraphQlFailure.SIZE.because(
                        "the subscription and its variables have more than " + limits.characters() + " characters");
            }
            var known = generic.get().known(text, Operation.SUBSCRIPTION);
            var prepared = known != null
                    ? known
                    : generic.get().prepare(text, GraphQlSchema.parse(text, limits), Operation.SUBSCRIPTION);
            var fields =
                    generic.get().normalized(prepared, subscription.variables()).getTopLevelFields();
            new GraphQlCost(generic.get().schema(), limits).check(fields);
            if (fields.size() != 1 || !fields.getFirst().getFieldName().equals("knowledgeChanged")) {
                throw GraphQlFailure.OPERATION.because("expected: the one field knowledgeChanged");
            }
            var arguments = new GraphQlArguments(fields.getFirst().getResolvedArguments());
            return new Watched(filter(arguments.object("filter")), fields.getFirst());
        } catch (A2AException refused) {
            throw A2AException.of(
                    KnowledgeError.KNOWLEDGE_SUBSCRIPTION,
                    KnowledgeError.KNOWLEDGE_SUBSCRIPTION.defaultMessage(),
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
            return within(() -> reader(view, NO_TYPES, deadline()).change(change, field));
        }
    }

    private static boolean isIntrospection(ExecutableNormalizedField field) {
        return field.getFieldName().equals("__schema") || field.getFieldName().equals("__type");
    }

    /** Looks for the types of a group anew, because something else is declared of them. */
    public void forget(String group) {
        typed.forget(group);
    }

    /** Looks for the types of all groups anew. */
    public void forgetAll() {
        typed.forgetAll();
    }

    /** The schema of a group as its reader may see it, in the schema language. */
    public String schema(String group, ReadFilter readFilter) {
        return typed.latest(new Readers(group, readFilter)).schema().text();
    }
}
