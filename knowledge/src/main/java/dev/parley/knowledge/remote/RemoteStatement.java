package dev.parley.knowledge.remote;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.store.Erasure;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.JsonColumn;
import dev.parley.protocol.support.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A statement as a SPARQL server keeps it: a resource whose properties are texts, since servers may rewrite IRIs and numbers.
 *
 * @param number in the order in which the group learnt of them
 * @param said without annotations
 * @param remarks annotations, those of the latest source first, at most one of each source
 * @param isHint true for a type that is only mentioned with other statements
 */
record RemoteStatement(long number, Statement said, List<Remark> remarks, boolean isHint) {
    private static final String VOCABULARY = "urn:parley:statement#";

    /** The pattern that finds them; everything but the hint is always there. */
    static final String PATTERN = """
            ?node p:number ?number ; p:graph ?graph ; p:subject ?subject ; p:predicate ?predicate ; p:object ?object ;
                  p:remarks ?remarks .
            OPTIONAL { ?node p:hint ?hint }
            """;

    static final String PREFIX = "PREFIX p: <" + VOCABULARY + ">\n";

    RemoteStatement {
        remarks = List.copyOf(remarks);
    }

    /**
     * Annotation of a statement by a source.
     *
     * @param source empty if it has none
     * @param change number of the change that brought it; 0 for none
     */
    record Remark(
            String source,
            @Nullable Double certainty,
            long confirmedMs,
            long change,
            Map<String, @Nullable Object> provenance) {
        static Remark of(Statement statement, long confirmedMs, long change) {
            return new Remark(
                    source(statement.provenance()), statement.certainty(), confirmedMs, change, statement.provenance());
        }

        private static String source(Map<String, @Nullable Object> provenance) {
            return requireNonNullElse(provenance.get("sourceAgentId"), "").toString();
        }

        /** The same with another provenance, and with its source. */
        Remark with(Map<String, @Nullable Object> changed) {
            return new Remark(source(changed), certainty, confirmedMs, change, changed);
        }

        private Map<String, @Nullable Object> json() {
            var json = new LinkedHashMap<String, @Nullable Object>();
            json.put("certainty", certainty);
            json.put("at", confirmedMs);
            json.put("change", change);
            json.put("provenance", provenance);
            return json;
        }

        @SuppressWarnings("unchecked") // the members of a JSON object have names
        private static Remark of(Map<?, ?> json) {
            var provenance = (Map<String, @Nullable Object>) requireNonNull(json.get("provenance"));
            return new Remark(
                    source(provenance),
                    json.get("certainty") instanceof Number number ? (Double) number.doubleValue() : null,
                    requireNonNull((Number) json.get("at")).longValue(),
                    requireNonNull((Number) json.get("change")).longValue(),
                    provenance);
        }
    }

    static RemoteStatement of(Map<String, String> row) {
        String graph = text(row, "graph");
        var remarks = new ArrayList<Remark>();
        for (Object one : JsonColumn.list(text(row, "remarks"))) {
            remarks.add(Remark.of((Map<?, ?>) one));
        }
        var said = new Statement(
                Term.Resource.of(text(row, "subject")),
                text(row, "predicate"),
                term(text(row, "object")),
                graph.isEmpty() ? null : graph,
                null,
                Map.of());
        return new RemoteStatement(Long.parseLong(text(row, "number")), said, remarks, row.containsKey("hint"));
    }

    private static String text(Map<String, String> row, String name) {
        String value = row.get(name);
        if (value == null) {
            throw new IllegalStateException("a statement on the SPARQL server has no " + name);
        }
        return value;
    }

    /** The statement with the annotations of one of its sources. */
    Fact fact(GroupCache space, Remark remark) {
        var provenance = new LinkedHashMap<>(remark.provenance());
        Instant confirmed = Instant.ofEpochMilli(remark.confirmedMs());
        if (remark.change() != 0) {
            provenance.put("changeId", space.changeId(remark.change()));
        }
        provenance.put("recordedAt", confirmed.toString());
        return new Fact(
                new Statement(
                        said.subject(), said.predicate(), said.object(), said.graph(), remark.certainty(), provenance),
                confirmed);
    }

    Remark latest() {
        return remarks.getFirst();
    }

    /** The same with another latest annotation, in the place of an older one by the same source. */
    RemoteStatement saidBy(Remark remark, boolean hint) {
        var left = new ArrayList<Remark>();
        left.add(remark);
        remarks.stream()
                .filter(other -> !other.source().equals(remark.source()))
                .forEach(left::add);
        return new RemoteStatement(number, said, left, hint);
    }

    /** Returns its IRI on the server, which is derived from its terms, so that adding it again finds it. */
    static String node(Statement statement) {
        String said = String.join(
                "\0",
                requireNonNullElse(statement.graph(), ""),
                statement.subject().id(),
                statement.predicate(),
                text(statement.object()));
        return "<urn:parley:statement:" + Sha256.hex(said) + ">";
    }

    /** The triples that stand for it. */
    String triples() {
        var triples = new StringBuilder(node(said)).append(" p:number ").append(number);
        add(triples, "graph", requireNonNullElse(said.graph(), ""));
        add(triples, "subject", said.subject().id());
        add(triples, "predicate", said.predicate());
        add(triples, "object", text(said.object()));
        var json = remarks.stream().map(Remark::json).toList();
        add(triples, "remarks", new String(Json.write(json), StandardCharsets.UTF_8));
        var names = new LinkedHashSet<String>();
        remarks.forEach(remark -> names.addAll(Erasure.named(remark.provenance())));
        names.forEach(name -> add(triples, "names", name));
        if (isHint) {
            triples.append(" ; p:hint true");
        }
        return triples.append(" .\n").toString();
    }

    private static void add(StringBuilder triples, String property, String value) {
        triples.append(" ; p:").append(property).append(' ').append(SparqlClient.quote(value));
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
