package dev.parley.knowledge;

import dev.parley.dialect.Json;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.spi.Fact;
import dev.parley.protocol.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.apache.jena.query.QuerySolution;
import org.jspecify.annotations.Nullable;

/**
 * A statement as a SPARQL server keeps it: a resource whose properties are texts, since servers may rewrite IRIs and numbers.
 *
 * @param number in the order in which the group learnt of them
 * @param isHint true for a type that is only mentioned with other statements
 */
record RemoteStatement(long number, Statement statement, Instant confirmedAt, boolean isHint) {
    private static final String VOCABULARY = "urn:parley:statement#";

    /** The pattern that finds them; everything but the hint and the remarks is always there. */
    static final String PATTERN = """
            ?node p:number ?number ; p:graph ?graph ; p:subject ?subject ; p:predicate ?predicate ; p:object ?object ;
                  p:confirmedAt ?confirmedAt .
            OPTIONAL { ?node p:certainty ?certainty }
            OPTIONAL { ?node p:provenance ?provenance }
            OPTIONAL { ?node p:hint ?hint }
            """;

    static final String PREFIX = "PREFIX p: <" + VOCABULARY + ">\n";

    @SuppressWarnings("unchecked")
    static RemoteStatement of(QuerySolution row) {
        String graph = text(row, "graph");
        String certainty = row.contains("certainty") ? text(row, "certainty") : null;
        Map<String, @Nullable Object> provenance = row.contains("provenance")
                ? Json.read(text(row, "provenance").getBytes(StandardCharsets.UTF_8), Map.class)
                : Map.of();
        var statement = new Statement(
                Term.Resource.of(text(row, "subject")),
                text(row, "predicate"),
                term(text(row, "object")),
                graph.isEmpty() ? null : graph,
                certainty == null ? null : Double.valueOf(certainty),
                provenance);
        return new RemoteStatement(
                row.getLiteral("number").getLong(),
                statement,
                Instant.parse(text(row, "confirmedAt")),
                row.contains("hint"));
    }

    private static String text(QuerySolution row, String name) {
        return row.getLiteral(name).getLexicalForm();
    }

    Fact fact() {
        return new Fact(statement, confirmedAt);
    }

    /** Returns its IRI on the server, which is derived from its terms, so that adding it again finds it. */
    static String node(Statement statement) {
        String said = String.join(
                "\0",
                Objects.requireNonNullElse(statement.graph(), ""),
                statement.subject().id(),
                statement.predicate(),
                text(statement.object()));
        return "<urn:parley:statement:" + Sha256.hex(said) + ">";
    }

    /** The triples that stand for it. */
    String triples() {
        var triples = new StringBuilder(node(statement))
                .append(" p:number ")
                .append(number)
                .append(" ; p:graph ")
                .append(RemoteEndpoint.quote(Objects.requireNonNullElse(statement.graph(), "")))
                .append(" ; p:subject ")
                .append(RemoteEndpoint.quote(statement.subject().id()))
                .append(" ; p:predicate ")
                .append(RemoteEndpoint.quote(statement.predicate()))
                .append(" ; p:object ")
                .append(RemoteEndpoint.quote(text(statement.object())))
                .append(" ; p:confirmedAt ")
                .append(RemoteEndpoint.quote(confirmedAt.toString()));
        if (statement.certainty() != null) {
            triples.append(" ; p:certainty ")
                    .append(RemoteEndpoint.quote(statement.certainty().toString()));
        }
        if (!statement.provenance().isEmpty()) {
            String json = new String(Json.write(statement.provenance()), StandardCharsets.UTF_8);
            triples.append(" ; p:provenance ").append(RemoteEndpoint.quote(json));
        }
        if (isHint) {
            triples.append(" ; p:hint true");
        }
        return triples.append(" .\n").toString();
    }

    /** A term as one text: what kind it is, its type or language and how long that is, its value. */
    static String text(Term term) {
        return switch (term) {
            case Term.Resource resource -> "<0:" + resource.id();
            case Term.Literal literal
            when literal.language() != null ->
                "@" + literal.language().length() + ":" + literal.language() + literal.lexical();
            case Term.Literal literal ->
                "^" + literal.datatype().length() + ":" + literal.datatype() + literal.lexical();
        };
    }

    private static Term term(String text) {
        int colon = text.indexOf(':');
        int end = colon + 1 + Integer.parseInt(text.substring(1, colon));
        String kind = text.substring(colon + 1, end);
        String value = text.substring(end);
        return switch (text.charAt(0)) {
            case '<' -> Term.Resource.of(value);
            case '@' -> Term.Literal.of(value, kind);
            default -> new Term.Literal(value, kind, null);
        };
    }
}
