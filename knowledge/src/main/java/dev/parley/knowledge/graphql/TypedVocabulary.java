package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.graphql.TypedModel.Kind;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.View;
import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Declarations of classes and predicates of a graph, in SHACL, RDFS and OWL. */
final class TypedVocabulary {
    private static final String SH = "http://www.w3.org/ns/shacl#";
    private static final Set<String> LANGUAGES = Set.of(SH, Term.RDF, Term.RDFS, Term.OWL, Term.XSD);
    private static final String SUBCLASS = Term.RDFS + "subClassOf";
    private static final int MAX_DECLARATIONS = 20_000;

    private static final Set<String> NUMBERS = Stream.of(
                    "byte",
                    "short",
                    "int",
                    "long",
                    "integer",
                    "decimal",
                    "float",
                    "double",
                    "nonNegativeInteger",
                    "positiveInteger",
                    "nonPositiveInteger",
                    "negativeInteger",
                    "unsignedByte",
                    "unsignedShort",
                    "unsignedInt",
                    "unsignedLong")
            .map(Term.XSD::concat)
            .collect(Collectors.toUnmodifiableSet());

    /** Declarations of a predicate; null or empty members are undeclared. */
    record Property(@Nullable Kind kind, boolean single, Set<String> range) {
        static final Property UNKNOWN = new Property(null, false, Set.of());

        /** Returns these declarations, completed by {@code other}. */
        Property or(Property other) {
            return new Property(
                    kind != null ? kind : other.kind, single || other.single, range.isEmpty() ? other.range : range);
        }
    }

    private final Map<String, Map<String, Set<Term>>> declared = new HashMap<>();

    private TypedVocabulary() {}

    /** Reads what a view declares, and {@code more}. */
    static TypedVocabulary read(View view, Collection<Statement> more) {
        var vocabulary = new TypedVocabulary();
        more.forEach(vocabulary::declare);
        var predicates = new ArrayList<String>();
        Stream.of("targetClass", "property", "path", "datatype", "class", "maxCount", "nodeKind")
                .forEach(name -> {
                    predicates.add(SH + name);
                    predicates.add("sh:" + name);
                });
        predicates.addAll(List.of(Term.RDFS + "domain", Term.RDFS + "range", SUBCLASS));
        var kinds = Stream.of(Term.RDFS + "Class", Term.OWL + "Class", Term.OWL + "FunctionalProperty")
                .<Term>map(Resource::of)
                .toList();
        vocabulary.declare(view, Pattern.predicates(predicates));
        vocabulary.declare(
                view, new Pattern(List.of(), List.of(), List.of(), List.of(Term.TYPE), kinds, List.of(), null));
        return vocabulary;
    }

    private void declare(Statement said) {
        String predicate =
                said.predicate().startsWith("sh:") ? SH + said.predicate().substring("sh:".length()) : said.predicate();
        declared.computeIfAbsent(predicate, any -> new TreeMap<>())
                .computeIfAbsent(said.subject().id(), any -> new LinkedHashSet<>())
                .add(said.object());
    }

    private void declare(View view, Pattern pattern) {
        String after = null;
        for (int read = 0; read < MAX_DECLARATIONS; read += GraphQlLimits.MAX_PAGE) {
            var page = view.statements(pattern, after, GraphQlLimits.MAX_PAGE);
            for (Fact fact : page.items()) {
                declare(fact.statement());
            }
            after = page.next();
            if (after == null) {
                return;
            }
        }
    }

    private Set<Term> declared(String subject, String predicate) {
        return declared.getOrDefault(predicate, Map.of()).getOrDefault(subject, Set.of());
    }

    private Set<String> declaredIds(String subject, String predicate) {
        return declared(subject, predicate).stream()
                .filter(Resource.class::isInstance)
                .map(object -> ((Resource) object).id())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private boolean isDeclared(String subject, String... types) {
        return Stream.of(types).anyMatch(declaredIds(subject, Term.TYPE)::contains);
    }

    /** The classes that something is declared of. */
    Set<String> classes() {
        var classes = new TreeSet<String>();
        declared.getOrDefault(Term.TYPE, Map.of()).keySet().stream()
                .filter(subject -> isDeclared(subject, Term.RDFS + "Class", Term.OWL + "Class"))
                .forEach(classes::add);
        declared.getOrDefault(SH + "targetClass", Map.of())
                .keySet()
                .forEach(shape -> classes.addAll(declaredIds(shape, SH + "targetClass")));
        return classes;
    }

    /** The class itself and those that it is below. */
    Set<String> above(String iri) {
        var reached = new LinkedHashSet<>(Set.of(iri));
        var next = new ArrayDeque<>(reached);
        while (!next.isEmpty()) {
            for (String id : declaredIds(next.remove(), SUBCLASS)) {
                if (reached.add(id)) {
                    next.add(id);
                }
            }
        }
        return reached;
    }

    /** Returns true for names of the schema languages themselves. */
    static boolean isLanguage(String iri) {
        return LANGUAGES.stream().anyMatch(iri::startsWith) || iri.startsWith("sh:");
    }

    /** Returns the declarations of shapes and RDFS for the members of a class, those of its superclasses included. */
    Map<String, Property> properties(String iri) {
        var properties = new TreeMap<String, Property>();
        for (String above : above(iri)) {
            declared.getOrDefault(SH + "property", Map.of()).keySet().stream()
                    .filter(shape -> shape.equals(above)
                            || declaredIds(shape, SH + "targetClass").contains(above))
                    .flatMap(shape -> declaredIds(shape, SH + "property").stream())
                    .forEach(property -> declaredIds(property, SH + "path").stream()
                            .filter(path -> !path.startsWith("_:") && !isLanguage(path))
                            .forEach(path -> properties.merge(path, shape(property), Property::or)));
            declared.getOrDefault(Term.RDFS + "domain", Map.of()).keySet().stream()
                    .filter(predicate ->
                            declaredIds(predicate, Term.RDFS + "domain").contains(above))
                    .forEach(predicate -> properties.putIfAbsent(predicate, Property.UNKNOWN));
        }
        return properties;
    }

    private Property shape(String property) {
        boolean single = declared(property, SH + "maxCount").stream()
                .anyMatch(count -> count instanceof Literal literal
                        && literal.value() instanceof BigDecimal number
                        && number.compareTo(BigDecimal.ONE) <= 0);
        var kinds = declaredIds(property, SH + "nodeKind");
        Set<String> range = declaredIds(property, SH + "class");
        var datatypes = declaredIds(property, SH + "datatype");
        Kind kind = null;
        if (!datatypes.isEmpty()) {
            kind = kind(datatypes);
        } else if (!range.isEmpty() || kinds.contains(SH + "IRI") || kinds.contains("sh:IRI")) {
            kind = Kind.ENTITY;
        } else if (kinds.contains(SH + "Literal") || kinds.contains("sh:Literal")) {
            kind = Kind.VALUE;
        }
        return new Property(kind, single, range);
    }

    private static Kind kind(Set<String> datatypes) {
        if (NUMBERS.containsAll(datatypes)) {
            return Kind.NUMBER;
        }
        if (datatypes.equals(Set.of(Literal.BOOLEAN))) {
            return Kind.BOOLEAN;
        }
        return datatypes.stream().anyMatch(datatype -> NUMBERS.contains(datatype) || datatype.equals(Literal.BOOLEAN))
                ? Kind.VALUE
                : Kind.TEXT;
    }

    /** Returns the declarations of a predicate in RDFS and OWL, for all classes. */
    Property everywhere(String predicate) {
        var range = declaredIds(predicate, Term.RDFS + "range");
        boolean literal = !range.isEmpty()
                && range.stream()
                        .allMatch(type -> type.startsWith(Term.XSD)
                                || type.equals(Literal.LANG_STRING)
                                || type.equals(Term.RDFS + "Literal"));
        boolean single = isDeclared(predicate, Term.OWL + "FunctionalProperty");
        if (range.isEmpty()) {
            return new Property(null, single, Set.of());
        }
        if (literal) {
            return new Property(range.contains(Term.RDFS + "Literal") ? Kind.VALUE : kind(range), single, Set.of());
        }
        return new Property(Kind.ENTITY, single, range);
    }
}
