package dev.parley.knowledge.api;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.InvalidField;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One thing said about a subject, and how sure it is.
 *
 * <p>What a statement says is its graph, subject, predicate and object; the other fields are remarks on it.
 *
 * <p>Source: knowledge graph extension, model KGStatement.
 *
 * @param predicate an IRI or other name, as in {@link Term.Resource}
 * @param graph the named graph that it belongs to; null for the default graph
 * @param certainty 0 to 1; null if it is not known
 * @param provenance where it comes from
 */
public record Statement(
        Term.Resource subject,
        String predicate,
        Term object,
        @Nullable String graph,
        @Nullable Double certainty,
        Map<String, @Nullable Object> provenance) {
    public Statement {
        requireNonNull(subject, "subject");
        requireNonNull(object, "object");
        predicate = Term.name("predicate.id", predicate);
        graph = graph == null ? null : Term.name("graph", graph);
        requireCertainty("certainty", certainty);
        provenance = Copies.of(provenance);
    }

    /** A statement of the default graph, without remarks. */
    public static Statement of(String subject, String predicate, Term object) {
        return new Statement(Term.Resource.of(subject), predicate, object, null, null, Map.of());
    }

    /** This statement with another certainty. */
    public Statement withCertainty(@Nullable Double certainty) {
        return new Statement(subject, predicate, object, graph, certainty, provenance);
    }

    /** This statement in another graph. */
    public Statement in(@Nullable String graph) {
        return new Statement(subject, predicate, object, graph, certainty, provenance);
    }

    /** This statement with another provenance. */
    public Statement withProvenance(Map<String, @Nullable Object> provenance) {
        return new Statement(subject, predicate, object, graph, certainty, provenance);
    }

    /** True if both say the same, whatever is remarked on them. */
    public boolean saysTheSameAs(Statement other) {
        return subject.equals(other.subject)
                && predicate.equals(other.predicate)
                && object.equals(other.object)
                && Objects.equals(graph, other.graph);
    }

    static void requireCertainty(String field, @Nullable Double certainty) {
        if (certainty != null && !(certainty >= 0 && certainty <= 1)) {
            throw InvalidField.of(field, certainty + " (expected: 0 to 1)");
        }
    }
}
