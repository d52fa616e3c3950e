package dev.parley.knowledge.rdf;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.protocol.InvalidField;
import java.util.Map;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.NodeFactory;
import org.apache.jena.sparql.core.Quad;
import org.apache.jena.sys.JenaSystem;
import org.jspecify.annotations.Nullable;

/**
 * Converts terms to Jena's nodes and back. Ids that begin with {@code _:} are blank nodes; all others are IRIs of any form.
 */
public final class RdfTerms {
    static final String BLANK = "_:";

    static {
        JenaSystem.init();
    }

    private RdfTerms() {}

    public static Node node(Term term) {
        return switch (term) {
            case Term.Resource resource -> resource(resource.id());
            case Term.Literal literal
            when literal.language() != null -> NodeFactory.createLiteralLang(literal.lexical(), literal.language());
            case Term.Literal literal ->
                NodeFactory.createLiteralDT(literal.lexical(), NodeFactory.getType(literal.datatype()));
        };
    }

    public static Node resource(String id) {
        return id.startsWith(BLANK)
                ? NodeFactory.createBlankNode(id.substring(BLANK.length()))
                : NodeFactory.createURI(id);
    }

    public static Quad quad(Statement statement) {
        return Quad.create(
                statement.graph() == null ? Quad.defaultGraphIRI : resource(statement.graph()),
                resource(statement.subject().id()),
                NodeFactory.createURI(statement.predicate()),
                node(statement.object()));
    }

    /** Returns null if no statement can have it: an empty IRI, a triple, text with a direction. */
    public static @Nullable Term term(Node node) {
        if (!node.isLiteral()) {
            String id = id(node);
            return id == null ? null : Term.Resource.of(id);
        }
        try {
            String language = node.getLiteralLanguage();
            if (!language.isEmpty()) {
                return node.getLiteralBaseDirection() == null
                        ? Term.Literal.of(node.getLiteralLexicalForm(), language)
                        : null;
            }
            return new Term.Literal(node.getLiteralLexicalForm(), node.getLiteralDatatypeURI(), null);
        } catch (InvalidField noLiteral) {
            return null;
        }
    }

    /** Returns null if it is not a resource. */
    public static @Nullable String id(Node node) {
        if (node.isBlank()) {
            return BLANK + node.getBlankNodeLabel();
        }
        return node.isURI() && isName(node.getURI()) ? node.getURI() : null;
    }

    private static boolean isName(String iri) {
        return !iri.isEmpty() && iri.length() <= Term.MAX_NAME;
    }

    /** Returns null if RDF can express this, but a statement cannot. */
    public static @Nullable Statement statement(Node graph, Node subject, Node predicate, Node object) {
        String about = id(subject);
        Term said = term(object);
        String in = Quad.isDefaultGraph(graph) ? null : id(graph);
        if (about == null || said == null || in == null && !Quad.isDefaultGraph(graph)) {
            return null;
        }
        if (!predicate.isURI() || !isName(predicate.getURI())) {
            return null;
        }
        return new Statement(Term.Resource.of(about), predicate.getURI(), said, in, null, Map.of());
    }
}
