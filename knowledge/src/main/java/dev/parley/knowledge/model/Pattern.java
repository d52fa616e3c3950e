package dev.parley.knowledge.model;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Filter of statements. A statement matches if it matches every field; a field matches if it is empty or one of its
 * elements matches.
 *
 * @param graphs {@link #DEFAULT_GRAPH} or names
 * @param subjectTypes subjects that have one of these types, in any graph
 * @param objects resources or literals
 * @param sources agents that the statement comes from: its provenance's {@code sourceAgentId}
 * @param minCertainty null for no bound
 */
public record Pattern(
        List<String> graphs,
        List<String> subjects,
        List<String> subjectTypes,
        List<String> predicates,
        List<Term> objects,
        List<String> sources,
        @Nullable Double minCertainty) {
    /** Name of the default graph in lists of graphs. */
    public static final String DEFAULT_GRAPH = "default";

    /** Every statement. */
    public static final Pattern ALL =
            new Pattern(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), null);

    public Pattern {
        graphs = graphs.stream().map(Term::expand).toList();
        subjects = subjects.stream().map(Term::expand).toList();
        subjectTypes = subjectTypes.stream().map(Term::expand).toList();
        predicates = predicates.stream().map(Term::expand).toList();
        objects = List.copyOf(objects);
        sources = List.copyOf(sources);
    }

    /** Every statement with one of these predicates. */
    public static Pattern predicates(List<String> predicates) {
        return new Pattern(List.of(), List.of(), List.of(), predicates, List.of(), List.of(), null);
    }

    /** This pattern for what comes from some agents only. */
    public Pattern from(List<String> sources) {
        return new Pattern(graphs, subjects, subjectTypes, predicates, objects, sources, minCertainty);
    }

    /** This pattern for some graphs only. */
    public Pattern in(List<String> graphs) {
        return new Pattern(graphs, subjects, subjectTypes, predicates, objects, sources, minCertainty);
    }

    /**
     * True if a statement fits.
     *
     * @param types finds the types of an entity; not called if they do not matter
     */
    public boolean fits(Statement statement, Function<String, Set<String>> types) {
        Double certainty = statement.certainty();
        String graph = statement.graph();
        return fits(graphs, graph == null ? DEFAULT_GRAPH : graph)
                && fits(subjects, statement.subject().id())
                && fits(predicates, statement.predicate())
                && fits(objects, statement.object())
                && (sources.isEmpty()
                        || sources.contains(
                                String.valueOf(statement.provenance().get("sourceAgentId"))))
                && (minCertainty == null || minCertainty == 0 || certainty != null && certainty >= minCertainty)
                && hasType(statement.subject(), types);
    }

    private static <T> boolean fits(List<T> wanted, T is) {
        return wanted.isEmpty() || wanted.contains(is);
    }

    private boolean hasType(Term.Resource subject, Function<String, Set<String>> types) {
        // The statement may carry the type itself: for a removed one the graph may not hold it any more.
        return subjectTypes.isEmpty()
                || subject.type() != null && subjectTypes.contains(subject.type())
                || types.apply(subject.id()).stream().anyMatch(subjectTypes::contains);
    }
}
