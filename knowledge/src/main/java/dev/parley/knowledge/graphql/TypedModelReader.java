package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.graphql.TypedModel.Field;
import dev.parley.knowledge.graphql.TypedModel.Kind;
import dev.parley.knowledge.graphql.TypedModel.Type;
import dev.parley.knowledge.graphql.TypedVocabulary.Property;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.View;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Derives the classes of a graph and their fields: from SHACL shapes, RDFS and OWL if the graph has them, else from a sample
 * of its statements.
 *
 * <p>What is declared decides; a sample only tells values from entities, because the next statement may differ. For one
 * thread, once.
 */
final class TypedModelReader {
    private static final int MAX_CLASSES = 300;
    private static final int MAX_PREDICATES = 1_000;
    private static final int SAMPLE = 50;

    /** Names that the generic schema, GraphQL or the typed one itself needs. */
    private static final Set<String> TYPE_NAMES = Set.of(
            "Any",
            "Number",
            "String",
            "Int",
            "Float",
            "Boolean",
            "ID",
            "Query",
            "Mutation",
            "Subscription",
            "Entity",
            "Statement",
            "Term",
            "Change",
            "GraphInfo",
            "EntityPage",
            "StatementPage",
            "ChangePage",
            "PageInfo",
            "StatementFilter",
            "Comparison",
            "Condition",
            "ValueFilter",
            "EntityFilter");

    private static final Set<String> ROOT_NAMES =
            Set.of("entity", "entities", "statements", "path", "graphs", "changes");

    /** They cannot be values of an enumeration. */
    private static final Set<String> FIELD_NAMES = Set.of("true", "false", "null");

    private final View view;
    private final TypedVocabulary declared;
    private final boolean showsDeclared;

    /**
     * @param declarations beside the view
     * @param showsDeclared false for a reader from whom something is hidden: what they do not see used must not show in what
     *     is declared of it
     */
    TypedModelReader(View view, Collection<Statement> declarations, boolean showsDeclared) {
        this.view = view;
        this.showsDeclared = showsDeclared;
        declared = TypedVocabulary.read(view, declarations);
    }

    TypedModel read() {
        var classes = classes();
        var properties = new LinkedHashMap<String, Map<String, Property>>();
        classes.forEach(iri -> properties.put(iri, declared.properties(iri)));
        for (String iri : classes) {
            var used = view.predicates(iri);
            var of = properties.getOrDefault(iri, new TreeMap<>());
            if (!showsDeclared) {
                of.keySet().retainAll(used);
            }
            used.stream()
                    .filter(predicate -> !TypedVocabulary.isLanguage(predicate))
                    .forEach(predicate -> of.putIfAbsent(predicate, Property.UNKNOWN));
        }
        var observed = observe(properties.values().stream()
                .flatMap(of -> of.keySet().stream())
                .collect(Collectors.toCollection(TreeSet::new)));
        properties
                .values()
                .forEach(of -> of.replaceAll((predicate, property) -> property.or(declared.everywhere(predicate))
                        .or(observed.getOrDefault(predicate, Property.UNKNOWN))));
        return model(classes, properties);
    }

    private List<String> classes() {
        var classes = new TreeSet<>(view.classes());
        if (showsDeclared) {
            classes.addAll(declared.classes());
        }
        classes.removeIf(iri -> TypedVocabulary.isLanguage(iri) || iri.startsWith("_:"));
        return classes.stream().limit(MAX_CLASSES).toList();
    }

    private Map<String, Property> observe(Collection<String> predicates) {
        var samples = new LinkedHashMap<String, List<Term>>();
        var pointedAt = new TreeSet<String>();
        predicates.stream().limit(MAX_PREDICATES).forEach(predicate -> {
            var objects = view.statements(Pattern.predicates(List.of(predicate)), null, SAMPLE).items().stream()
                    .map(fact -> fact.statement().object())
                    .toList();
            samples.put(predicate, objects);
            ids(objects).forEach(pointedAt::add);
        });
        var types = pointedAt.isEmpty() ? Map.<String, Set<String>>of() : view.types(pointedAt);
        var observed = new HashMap<String, Property>();
        samples.forEach((predicate, objects) -> {
            if (!objects.isEmpty()) {
                long entities = ids(objects).count();
                Kind kind = entities == 0 ? Kind.VALUE : entities == objects.size() ? Kind.ENTITY : Kind.TERM;
                observed.put(
                        predicate, new Property(kind, false, shared(ids(objects).toList(), types)));
            }
        });
        return observed;
    }

    private static Stream<String> ids(List<Term> terms) {
        return terms.stream().filter(Resource.class::isInstance).map(term -> ((Resource) term).id());
    }

    /** The types that all of {@code ids} have that have any. */
    private static Set<String> shared(List<String> ids, Map<String, Set<String>> types) {
        Set<String> shared = null;
        for (String id : ids) {
            var has = types.getOrDefault(id, Set.of());
            if (shared == null && !has.isEmpty()) {
                shared = new TreeSet<>(has);
            } else if (shared != null && !has.isEmpty()) {
                shared.retainAll(has);
            }
        }
        return shared == null ? Set.of() : shared;
    }

    /** Name of a class in the schema. */
    private record Names(String type, String one, String all) {}

    private static Map<String, Names> names(List<String> classes) {
        var types = new TypedNames(TYPE_NAMES);
        var roots = new TypedNames(ROOT_NAMES);
        var names = new LinkedHashMap<String, Names>();
        for (String iri : classes) {
            String type = TypedNames.ofType(iri);
            String one = TypedNames.ofField(iri);
            String all = TypedNames.plural(one);
            String typeEnd = types.take(
                    end -> List.of(type + end, type + end + "Filter", type + end + "Order", type + end + "Page"));
            String rootEnd = roots.take(end -> List.of(one + end, all + end, all + end + "Page"));
            names.put(iri, new Names(type + typeEnd, one + rootEnd, all + rootEnd));
        }
        return names;
    }

    private TypedModel model(List<String> classes, Map<String, Map<String, Property>> properties) {
        var names = names(classes);
        var below = new HashMap<String, Set<String>>();
        classes.forEach(iri -> declared.above(iri)
                .forEach(above ->
                        below.computeIfAbsent(above, any -> new TreeSet<>()).add(iri)));
        var types = new ArrayList<Type>();
        names.forEach((iri, called) -> types.add(new Type(
                iri,
                called.type(),
                called.one(),
                called.all(),
                below.getOrDefault(iri, Set.of(iri)),
                fields(iri, properties, names, below))));
        return new TypedModel(types);
    }

    private List<Field> fields(
            String iri,
            Map<String, Map<String, Property>> properties,
            Map<String, Names> names,
            Map<String, Set<String>> below) {
        var taken = new TypedNames(FIELD_NAMES);
        var fields = new ArrayList<Field>();
        properties.getOrDefault(iri, Map.of()).forEach((predicate, property) -> {
            Kind kind = property.kind() == null ? Kind.TERM : property.kind();
            String target = kind == Kind.ENTITY ? target(property.range(), names) : null;
            String name = taken.take(TypedNames.ofField(predicate));
            fields.add(new Field(name, predicate, kind, property.single(), false, target, Set.of()));
        });
        pointing(iri, properties).forEach((predicate, all) -> {
            var owners = topmost(all);
            String name = taken.take(TypedNames.ofField(predicate) + "Of");
            Set<String> of =
                    owners.size() == 1 ? below.getOrDefault(owners.iterator().next(), owners) : Set.of();
            fields.add(new Field(name, predicate, Kind.ENTITY, false, true, target(owners, names), of));
        });
        return fields;
    }

    /** Returns the elements of {@code classes} that are no subclass of another. */
    private Set<String> topmost(Set<String> classes) {
        return classes.stream()
                .filter(iri ->
                        declared.above(iri).stream().noneMatch(above -> !above.equals(iri) && classes.contains(above)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static @Nullable String target(Set<String> range, Map<String, Names> names) {
        Names called = range.size() == 1 ? names.get(range.iterator().next()) : null;
        return called == null ? null : called.type();
    }

    /** Returns the predicates whose objects are members of a class, with the classes of their subjects. */
    private static Map<String, Set<String>> pointing(String iri, Map<String, Map<String, Property>> properties) {
        var pointing = new TreeMap<String, Set<String>>();
        properties.forEach((owner, of) -> of.forEach((predicate, property) -> {
            if (property.kind() == Kind.ENTITY && property.range().equals(Set.of(iri))) {
                pointing.computeIfAbsent(predicate, any -> new TreeSet<>()).add(owner);
            }
        }));
        return pointing;
    }
}
