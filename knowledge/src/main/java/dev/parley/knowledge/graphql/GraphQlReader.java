package dev.parley.knowledge.graphql;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.changes.ChangeLog;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import graphql.normalized.ExecutableNormalizedField;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers one query from a view, level by level: the data of a field is read at once for all objects of the level above, so
 * the number of reads depends on the query, never on its results.
 *
 * <p>Executing fields one object at a time, as GraphQL engines do, would need batching to get there, and three times the
 * processor. For one thread, once.
 */
final class GraphQlReader {
    /** Object of the answer and its selected fields. */
    record Target<T>(T of, Map<String, @Nullable Object> out) {}

    /** Fills fields of all objects of a level. */
    @FunctionalInterface
    interface Level<T> {
        void fill(List<Target<T>> targets, List<ExecutableNormalizedField> fields);
    }

    private final View view;
    private final ChangeLog changes;
    private final TypedModel.Index typed;
    private final GraphQlLimits limits;
    private final LongSupplier nanoTime;
    private final long deadline;
    private final List<Map<String, Object>> errors = new ArrayList<>();
    private boolean truncated;
    private int objects;
    private long characters;

    GraphQlReader(
            View view,
            ChangeLog changes,
            TypedModel.Index typed,
            GraphQlLimits limits,
            LongSupplier nanoTime,
            long deadline) {
        this.view = view;
        this.changes = changes;
        this.typed = typed;
        this.limits = limits;
        this.nanoTime = nanoTime;
        this.deadline = deadline;
    }

    /** Errors of fields that are null for it, as GraphQL writes them. */
    List<Map<String, Object>> errors() {
        return errors;
    }

    /** True if a list of the answer was cut off. */
    boolean isTruncated() {
        return truncated;
    }

    /** Returns the answer to a query; what it asks about the schema is null in it. */
    Map<String, @Nullable Object> query(List<ExecutableNormalizedField> fields) {
        var out = new LinkedHashMap<String, @Nullable Object>();
        for (var field : fields) {
            out.put(field.getResultKey(), null);
            try {
                root(field, out);
            } catch (IllegalArgumentException unfit) {
                out.put(field.getResultKey(), null);
                errors.add(
                        Map.of("message", String.valueOf(unfit.getMessage()), "path", List.of(field.getResultKey())));
            }
        }
        return out;
    }

    /** Returns what a subscription's field shows of one change, under its name. */
    Map<String, @Nullable Object> change(Change change, ExecutableNormalizedField field) {
        var out = new LinkedHashMap<String, @Nullable Object>();
        objects(List.of(new Target<>(change, out)), field, any -> change, this::changes);
        return out;
    }

    private void root(ExecutableNormalizedField field, Map<String, @Nullable Object> out) {
        var arguments = arguments(field);
        switch (field.getFieldName()) {
            case "__typename" -> out.put(field.getResultKey(), field.getSingleObjectTypeName());
            case "__schema", "__type" -> {}
            case "entity" -> out.put(field.getResultKey(), entity(arguments.required("id"), field));
            case "entities" ->
                page(
                        view.entities(arguments.entities(), arguments.text("after"), arguments.first()),
                        field,
                        out,
                        this::entities);
            case "statements" ->
                page(
                        read(view.statements(
                                arguments.object("filter").pattern(), arguments.text("after"), arguments.first())),
                        field,
                        out,
                        this::statements);
            case "path" -> path(arguments, field, out);
            case "graphs" -> lists(List.of(new Target<>(view.graphs(), out)), field, this::graphs);
            case "changes" ->
                page(
                        changed(changes.changes(view, arguments.text("after"), arguments.first())),
                        field,
                        out,
                        this::changes);
            default -> typedRoot(arguments, field, out);
        }
    }

    private void typedRoot(
            GraphQlArguments arguments, ExecutableNormalizedField field, Map<String, @Nullable Object> out) {
        var root = typed.root(field.getFieldName());
        if (root == null) {
            throw new IllegalStateException(field.getFieldName());
        }
        switch (root.cardinality()) {
            case ONE -> {
                String id = Term.expand(arguments.required("id"));
                boolean belongs = view.types(List.of(id)).getOrDefault(id, Set.of()).stream()
                        .anyMatch(root.type().classes()::contains);
                objects(List.of(new Target<>(id, out)), field, any -> belongs ? id : null, this::entities);
            }
            case ALL -> {
                var page = typedEntities(root.type(), arguments);
                truncated |= page.next() != null;
                lists(List.of(new Target<>(page.items(), out)), field, this::entities);
            }
            case PAGE -> page(typedEntities(root.type(), arguments), field, out, this::entities);
        }
    }

    private StatementPage<String> typedEntities(TypedModel.Type type, GraphQlArguments arguments) {
        return view.entities(TypedFilter.of(type, arguments), arguments.text("after"), arguments.first());
    }

    /** Returns null for an entity without statements; the check needs no read if a field shows some. */
    private @Nullable Map<String, @Nullable Object> entity(String id, ExecutableNormalizedField field) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        var target = new Target<>(Term.expand(id), shown);
        entities(List.of(target), field.getChildren());
        return showsSomething(field, shown) || exists(target.of()) ? shown : null;
    }

    private static boolean showsSomething(ExecutableNormalizedField entity, Map<String, @Nullable Object> shown) {
        return entity.getChildren().stream()
                .filter(field -> !field.getFieldName().equals("id")
                        && !field.getFieldName().startsWith("__"))
                .anyMatch(field -> switch (shown.get(field.getResultKey())) {
                    case null -> false;
                    case List<?> list -> !list.isEmpty();
                    case Map<?, ?> page -> page.get("nodes") instanceof List<?> nodes && !nodes.isEmpty();
                    case Object value -> true;
                });
    }

    private boolean exists(String id) {
        return !page(view.about(List.of(id), Pattern.ALL, null, 1), id).items().isEmpty()
                || !view.types(List.of(id)).getOrDefault(id, Set.of()).isEmpty()
                || !page(view.pointingAt(List.of(id), Pattern.ALL, null, 1), id)
                        .items()
                        .isEmpty();
    }

    private void path(GraphQlArguments arguments, ExecutableNormalizedField field, Map<String, @Nullable Object> out) {
        var search = new PathSearch(view, limits.pathNodes());
        var path = search.find(arguments.required("from"), arguments.required("to"), arguments.number("maxLength", 4));
        truncated |= !search.isComplete();
        if (path != null) {
            lists(List.of(new Target<>(path, out)), field, this::statements);
        }
    }

    private void entities(List<Target<String>> targets, List<ExecutableNormalizedField> fields) {
        if (targets.isEmpty()) {
            return;
        }
        var values = new ArrayList<ValueField>();
        for (var field : fields) {
            // Takes its place in the order now.
            targets.forEach(target -> target.out().put(field.getResultKey(), null));
            var arguments = arguments(field);
            var property = typed.field(field.getSingleObjectTypeName(), field.getFieldName());
            if (property != null && property.inverse()) {
                inverse(targets, field, property);
                continue;
            }
            if (property != null) {
                values.add(ValueField.of(field, property, arguments));
                continue;
            }
            switch (field.getFieldName()) {
                case "__typename" -> each(targets, field, id -> field.getSingleObjectTypeName());
                case "id", "_id" -> each(targets, field, id -> id);
                case "types", "_types" -> {
                    var types = view.types(ids(targets));
                    each(targets, field, id -> List.copyOf(types.getOrDefault(id, Set.of())));
                }
                case "statements", "_statements" -> {
                    var about = read(
                            view.about(ids(targets), arguments.about(), arguments.text("after"), arguments.first()));
                    pages(targets, field, id -> page(about, id), this::statements);
                }
                case "incoming", "_incoming" -> {
                    var pointing = read(view.pointingAt(
                            ids(targets), arguments.about(), arguments.text("after"), arguments.first()));
                    pages(targets, field, id -> page(pointing, id), this::statements);
                }
                case "value", "values" -> values.add(ValueField.of(field, arguments));
                case "_entity" -> objects(targets, field, id -> id, this::entities);
                default -> throw new IllegalStateException(field.getFieldName());
            }
        }
        values(targets, values);
    }

    private void inverse(List<Target<String>> targets, ExecutableNormalizedField field, TypedModel.Field property) {
        var pattern = new Pattern(
                List.of(),
                List.of(),
                List.copyOf(property.owners()),
                List.of(property.predicate()),
                List.of(),
                List.of(),
                null);
        var pointing = read(
                view.pointingAt(ids(targets), pattern, null, arguments(field).first()));
        lists(
                targets.stream()
                        .map(target -> {
                            var page = page(pointing, target.of());
                            truncated |= page.next() != null;
                            return new Target<>(subjects(page), target.out());
                        })
                        .toList(),
                field,
                this::entities);
    }

    private static List<String> subjects(StatementPage<Fact> page) {
        return page.items().stream()
                .map(fact -> fact.statement().subject().id())
                .distinct()
                .toList();
    }

    /** Field that shows the objects of a predicate. */
    private record ValueField(
            ExecutableNormalizedField field,
            String predicate,
            TypedModel.Kind kind,
            boolean single,
            Languages languages,
            int first) {
        static ValueField of(ExecutableNormalizedField field, GraphQlArguments arguments) {
            return new ValueField(
                    field,
                    Term.expand(arguments.required("predicate")),
                    TypedModel.Kind.ANY,
                    field.getFieldName().equals("value"),
                    Languages.of(arguments.texts("language")),
                    arguments.first());
        }

        static ValueField of(ExecutableNormalizedField field, TypedModel.Field property, GraphQlArguments arguments) {
            return new ValueField(
                    field,
                    property.predicate(),
                    property.kind(),
                    property.single(),
                    Languages.of(arguments.texts("language")),
                    arguments.first());
        }

        /** Returns true if the field can show {@code term}; a graph may hold values that contradict its declarations. */
        boolean shows(Term term) {
            return switch (kind) {
                case ENTITY -> term instanceof Term.Resource;
                case TERM -> true;
                default -> shown(term) != null;
            };
        }

        @Nullable
        Object shown(Term term) {
            return kind == TypedModel.Kind.ANY && term instanceof Term.Resource resource
                    ? resource.id()
                    : term instanceof Term.Literal literal ? kind.shown(literal) : null;
        }
    }

    /** Reads all fields with values together, or one by one if their statements exceed the limit of a read. */
    private void values(List<Target<String>> targets, List<ValueField> fields) {
        if (fields.isEmpty()) {
            return;
        }
        var predicates = fields.stream().map(ValueField::predicate).distinct().toList();
        var pages = read(view.about(ids(targets), Pattern.predicates(predicates), null, GraphQlLimits.MAX_PAGE));
        boolean whole = pages.values().stream().allMatch(page -> page.next() == null);
        for (var field : fields) {
            var found = whole || predicates.size() == 1
                    ? pages
                    : read(view.about(
                            ids(targets),
                            Pattern.predicates(List.of(field.predicate())),
                            null,
                            GraphQlLimits.MAX_PAGE));
            value(targets, field, id -> {
                var page = page(found, id);
                var terms = field.languages()
                        .preferred(page.items().stream()
                                .map(Fact::statement)
                                .filter(statement -> statement.predicate().equals(field.predicate()))
                                .map(Statement::object)
                                .filter(field::shows)
                                .toList());
                truncated |= !field.single() && (terms.size() > field.first() || page.next() != null);
                return terms.subList(0, Math.min(terms.size(), field.single() ? 1 : field.first()));
            });
        }
    }

    private void value(List<Target<String>> targets, ValueField field, Function<String, List<Term>> terms) {
        switch (field.kind()) {
            case ENTITY -> {
                Level<Term> level = (found, fields) -> entities(
                        found.stream()
                                .map(target -> new Target<>(requireNonNull(id(target.of())), target.out()))
                                .toList(),
                        fields);
                some(targets, field, terms, level);
            }
            case TERM -> some(targets, field, terms, this::terms);
            default ->
                each(targets, field.field(), id -> {
                    var shown = terms.apply(id).stream().map(field::shown).toList();
                    return field.single() ? (shown.isEmpty() ? null : shown.getFirst()) : shown;
                });
        }
    }

    /** Shows objects that belong to each target: the first, or all of them. */
    private <T> void some(
            List<Target<String>> targets, ValueField field, Function<String, List<T>> objects, Level<T> level) {
        if (field.single()) {
            objects(
                    targets,
                    field.field(),
                    id -> objects.apply(id).stream().findFirst().orElse(null),
                    level);
        } else {
            lists(
                    targets.stream()
                            .map(target -> new Target<>(objects.apply(target.of()), target.out()))
                            .toList(),
                    field.field(),
                    level);
        }
    }

    private void statements(List<Target<Fact>> targets, List<ExecutableNormalizedField> fields) {
        for (var field : fields) {
            switch (field.getFieldName()) {
                case "__typename" -> each(targets, field, fact -> field.getSingleObjectTypeName());
                case "subject" ->
                    objects(targets, field, fact -> fact.statement().subject().id(), this::entities);
                case "predicate" ->
                    each(targets, field, fact -> fact.statement().predicate());
                case "object" ->
                    objects(targets, field, fact -> fact.statement().object(), this::terms);
                case "graph" -> each(targets, field, fact -> fact.statement().graph());
                case "certainty" ->
                    each(targets, field, fact -> fact.statement().certainty());
                case "provenance" ->
                    each(targets, field, fact -> fact.statement().provenance());
                case "confirmedAt" ->
                    each(targets, field, fact -> fact.confirmedAt().toString());
                default -> throw new IllegalStateException(field.getFieldName());
            }
        }
    }

    private void terms(List<Target<Term>> targets, List<ExecutableNormalizedField> fields) {
        for (var field : fields) {
            switch (field.getFieldName()) {
                case "__typename" -> each(targets, field, term -> field.getSingleObjectTypeName());
                case "id" -> each(targets, field, GraphQlReader::id);
                case "value" ->
                    each(targets, field, term -> term instanceof Term.Literal literal ? literal.value() : null);
                case "type" ->
                    each(targets, field, term -> switch (term) {
                        case Term.Resource resource -> resource.type();
                        case Term.Literal literal -> literal.datatype();
                    });
                case "language" ->
                    each(targets, field, term -> term instanceof Term.Literal literal ? literal.language() : null);
                case "entity" -> objects(targets, field, GraphQlReader::id, this::entities);
                default -> throw new IllegalStateException(field.getFieldName());
            }
        }
    }

    private static @Nullable String id(Term term) {
        return term instanceof Term.Resource resource ? resource.id() : null;
    }

    private void graphs(List<Target<View.GraphInfo>> targets, List<ExecutableNormalizedField> fields) {
        for (var field : fields) {
            switch (field.getFieldName()) {
                case "__typename" -> each(targets, field, graph -> field.getSingleObjectTypeName());
                case "name" ->
                    each(targets, field, graph -> graph.name() == null ? Pattern.DEFAULT_GRAPH : graph.name());
                case "statements" ->
                    each(targets, field, graph -> (int) Math.min(graph.statements(), Integer.MAX_VALUE));
                default -> throw new IllegalStateException(field.getFieldName());
            }
        }
    }

    private void changes(List<Target<Change>> targets, List<ExecutableNormalizedField> fields) {
        for (var field : fields) {
            switch (field.getFieldName()) {
                case "__typename" -> each(targets, field, change -> field.getSingleObjectTypeName());
                case "changeId" -> each(targets, field, Change::changeId);
                case "op" -> each(targets, field, change -> change.op().name().toLowerCase(Locale.ROOT));
                case "statement" ->
                    objects(
                            targets,
                            field,
                            change -> new Fact(change.statement(), change.timestamp()),
                            this::statements);
                case "timestamp" ->
                    each(targets, field, change -> change.timestamp().toString());
                case "metadata" -> each(targets, field, Change::metadata);
                default -> throw new IllegalStateException(field.getFieldName());
            }
        }
    }

    private <T> void each(
            List<Target<T>> targets, ExecutableNormalizedField field, Function<T, @Nullable Object> value) {
        String key = field.getResultKey();
        for (var target : targets) {
            Object shown = value.apply(target.of());
            count(Characters.of(shown));
            target.out().put(key, shown);
        }
    }

    private StatementPage<Fact> read(StatementPage<Fact> page) {
        page.items().forEach(fact -> count(Characters.of(fact.statement())));
        return page;
    }

    private Map<String, StatementPage<Fact>> read(Map<String, StatementPage<Fact>> pages) {
        pages.values().forEach(this::read);
        return pages;
    }

    private StatementPage<Change> changed(StatementPage<Change> page) {
        page.items().forEach(change -> count(Characters.of(change)));
        return page;
    }

    /** Pages end early if their statements exceed the view's limit of text, which is beyond the limit of an answer. */
    private void count(long more) {
        characters += more;
        if (characters > limits.length()) {
            throw GraphQlFailure.SIZE.because("the answer, or what has to be read for it, has more than "
                    + limits.length() + " characters; ask for shorter pages with first");
        }
    }

    /** Shows in {@code field} the one object that belongs to each target, or null. */
    private <T, U> void objects(
            List<Target<T>> targets, ExecutableNormalizedField field, Function<T, @Nullable U> object, Level<U> level) {
        var found = new ArrayList<Target<U>>(targets.size());
        for (var target : targets) {
            U of = object.apply(target.of());
            target.out().put(field.getResultKey(), of == null ? null : target(of, found));
        }
        level.fill(found, field.getChildren());
    }

    /** Shows in {@code field} the elements of each target. */
    private <T> void lists(List<Target<List<T>>> lists, ExecutableNormalizedField field, Level<T> level) {
        var found = new ArrayList<Target<T>>();
        for (var list : lists) {
            var shown = new ArrayList<@Nullable Object>(list.of().size());
            for (T element : list.of()) {
                shown.add(target(element, found));
            }
            list.out().put(field.getResultKey(), shown);
        }
        level.fill(found, field.getChildren());
    }

    private <T> Map<String, @Nullable Object> target(T of, List<Target<T>> found) {
        if (++objects > limits.objects()) {
            throw GraphQlFailure.SIZE.because("the answer has more than " + limits.objects() + " objects");
        }
        if ((objects & 0x3ff) == 0) {
            checkTime();
        }
        var out = new LinkedHashMap<String, @Nullable Object>();
        found.add(new Target<>(of, out));
        return out;
    }

    private void checkTime() {
        if (nanoTime.getAsLong() - deadline > 0) {
            throw GraphQlFailure.TIMEOUT.because("the query took more than " + limits.time());
        }
    }

    private <T> void page(
            StatementPage<T> page, ExecutableNormalizedField field, Map<String, @Nullable Object> out, Level<T> level) {
        pages(List.of(new Target<>("", out)), field, any -> page, level);
    }

    /** Shows in {@code field} the page that belongs to each target. */
    private <T, U> void pages(
            List<Target<T>> targets,
            ExecutableNormalizedField field,
            Function<T, StatementPage<U>> page,
            Level<U> level) {
        checkTime();
        objects(targets, field, page, (pages, fields) -> {
            truncated |= pages.stream().anyMatch(shown -> shown.of().next() != null);
            for (var part : fields) {
                switch (part.getFieldName()) {
                    case "__typename" -> each(pages, part, any -> part.getSingleObjectTypeName());
                    case "nodes" ->
                        lists(
                                pages.stream()
                                        .map(shown -> new Target<>(shown.of().items(), shown.out()))
                                        .toList(),
                                part,
                                level);
                    case "pageInfo" -> objects(pages, part, shown -> shown, this::pageInfos);
                    default -> throw new IllegalStateException(part.getFieldName());
                }
            }
        });
    }

    private <T> void pageInfos(List<Target<StatementPage<T>>> targets, List<ExecutableNormalizedField> fields) {
        for (var field : fields) {
            switch (field.getFieldName()) {
                case "__typename" -> each(targets, field, page -> field.getSingleObjectTypeName());
                case "hasNextPage" -> each(targets, field, page -> page.next() != null);
                case "endCursor" -> each(targets, field, StatementPage::next);
                default -> throw new IllegalStateException(field.getFieldName());
            }
        }
    }

    private static <T> StatementPage<T> page(Map<String, StatementPage<T>> pages, String id) {
        return requireNonNull(pages.getOrDefault(id, StatementPage.empty()));
    }

    private static Set<String> ids(List<Target<String>> targets) {
        var ids = new LinkedHashSet<String>();
        targets.forEach(target -> ids.add(target.of()));
        return ids;
    }

    private static GraphQlArguments arguments(ExecutableNormalizedField field) {
        return new GraphQlArguments(field.getResolvedArguments());
    }
}
