package dev.parley.knowledge.spi;

import dev.parley.protocol.Term;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which statements are meant: those that fit every field. A field fits if it is empty, or if one of its elements does.
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
    /** What the graph without a name is called in lists of graphs. */
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

    /** This pattern for some graphs only. */
    public Pattern in(List<String> graphs) {
        return new Pattern(graphs, subjects, subjectTypes, predicates, objects, sources, minCertainty);
    }
}
