package dev.parley.knowledge.sparql;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.rdf.RdfTerms;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.jena.graph.Node;
import org.apache.jena.graph.Triple;
import org.apache.jena.sparql.core.Quad;
import org.apache.jena.sparql.core.Var;
import org.apache.jena.sparql.exec.QueryExec;
import org.apache.jena.sparql.exec.RowSet;
import org.jspecify.annotations.Nullable;

/** Converts results and variables of SPARQL to and from JSON. */
final class SparqlResult {
    private static final int MAX_ROWS = 10_000;
    private static final long MAX_CHARACTERS = 8 << 20;

    private static final List<String> TERM = List.of("type", "value", "xml:lang", "datatype");
    private static final List<String> STATEMENT = List.of("subject", "predicate", "object");
    private static final List<String> KG_OBJECT = List.of("value", "type", "language");

    private final List<Object> rows = new ArrayList<>();
    private long characters;

    private SparqlResult() {}

    static Sparql.Answer of(QueryExec running) {
        var query = running.getQuery();
        if (query.isAskType()) {
            return new Sparql.Answer(Map.of("head", Map.of(), "boolean", running.ask()), false);
        }
        var result = new SparqlResult();
        if (query.isSelectType()) {
            RowSet found = running.select();
            List<String> names = List.copyOf(query.getResultVars());
            boolean truncated = !result.addRows(found, names, Var.varList(names));
            return new Sparql.Answer(
                    new JsonMembers(List.of("head", "results"), Map.of("vars", names), Map.of("bindings", result.rows)),
                    truncated);
        }
        Iterator<Triple> triples = query.isDescribeType() ? running.describe().find() : running.constructTriples();
        return new Sparql.Answer(result.rows, !result.addStatements(triples));
    }

    /** Returns false if there was no room for all. */
    private boolean addRows(RowSet found, List<String> names, List<Var> variables) {
        while (found.hasNext()) {
            var binding = found.next();
            var values = new @Nullable Object[names.size()];
            for (int i = 0; i < values.length; i++) {
                Node node = binding.get(variables.get(i));
                values[i] = node == null ? null : value(node);
            }
            if (!hasRoom()) {
                return false;
            }
            rows.add(new JsonMembers(names, values));
        }
        return true;
    }

    private boolean addStatements(Iterator<Triple> triples) {
        Set<Triple> distinct = new LinkedHashSet<>();
        while (triples.hasNext()) {
            Triple triple = triples.next();
            Statement statement = RdfTerms.statement(
                    Quad.defaultGraphIRI, triple.getSubject(), triple.getPredicate(), triple.getObject());
            if (statement == null || !distinct.add(triple)) {
                continue;
            }
            characters +=
                    statement.subject().id().length() + statement.predicate().length();
            var json = new JsonMembers(
                    STATEMENT,
                    Map.of("id", statement.subject().id()),
                    Map.of("id", statement.predicate()),
                    kgObject(statement.object()));
            if (!hasRoom()) {
                return false;
            }
            rows.add(json);
        }
        return true;
    }

    private boolean hasRoom() {
        return rows.size() < MAX_ROWS && characters <= MAX_CHARACTERS;
    }

    /** Source: SPARQL 1.1 Query Results JSON Format, section 3.2.2 "Encoding RDF terms". */
    private JsonMembers value(Node node) {
        if (node.isURI()) {
            characters += node.getURI().length();
            return new JsonMembers(TERM, "uri", node.getURI());
        }
        if (node.isBlank()) {
            return new JsonMembers(TERM, "bnode", node.getBlankNodeLabel());
        }
        characters += node.getLiteralLexicalForm().length();
        String language = node.getLiteralLanguage();
        String type = node.getLiteralDatatypeURI();
        boolean isPlain = !language.isEmpty() || type.equals(Term.Literal.STRING);
        return new JsonMembers(
                TERM,
                "literal",
                node.getLiteralLexicalForm(),
                language.isEmpty() ? null : language,
                isPlain ? null : type);
    }

    private Map<String, Object> kgObject(Term term) {
        return switch (term) {
            case Term.Resource resource -> {
                characters += resource.id().length();
                yield Map.of("id", resource.id());
            }
            case Term.Literal literal -> {
                characters += literal.lexical().length();
                boolean isPlain = literal.isPlain();
                yield new JsonMembers(
                        KG_OBJECT,
                        isPlain ? literal.value() : literal.lexical(),
                        isPlain ? null : literal.datatype(),
                        literal.language());
            }
        };
    }

    /**
     * Reads the value of a variable: a KGObject, or a string, number or boolean.
     *
     * @throws A2AException INVALID_PARAMS if it is neither
     */
    static Term term(String field, Object value) {
        try {
            return switch (value) {
                case String text -> Term.Literal.of(text);
                case Boolean truth -> Term.Literal.of(truth);
                case Number number -> Term.Literal.of(new BigDecimal(number.toString()));
                case Map<?, ?> object
                when object.get("id") instanceof String id && !object.containsKey("value") -> Term.Resource.of(id);
                case Map<?, ?> object
                when object.get("value") != null && !object.containsKey("id") -> literal(field, object);
                default -> throw InvalidField.of(field, "expected: a string, number, boolean, {id} or {value, type}");
            };
        } catch (InvalidField invalid) {
            throw A2AException.invalidParams(field, invalid.problem());
        }
    }

    private static Term literal(String field, Map<?, ?> object) {
        Object value = object.get("value");
        if (object.get("language") instanceof String language) {
            return Term.Literal.of(String.valueOf(value), language);
        }
        return object.get("type") instanceof String type
                ? new Term.Literal(String.valueOf(value), type, null)
                : term(field, value instanceof Map<?, ?> || value == null ? List.of() : value);
    }
}
