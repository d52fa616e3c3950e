package dev.parley.knowledge.rdf;

import dev.parley.dialect.Json;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Writes expanded JSON-LD, a node object for each statement: the only form that need not be in memory as a whole. */
final class RdfJsonLdWriter implements RdfFiles.Writer {
    private final OutputStream out;
    private String separator = "[\n";

    RdfJsonLdWriter(OutputStream out) {
        this.out = new BufferedOutputStream(out);
    }

    @Override
    public void write(Statement statement) {
        boolean isType = statement.predicate().equals(Term.TYPE);
        Map<String, Object> said = isType && statement.object() instanceof Term.Resource type
                ? Map.of("@id", iri(statement.subject().id()), "@type", List.of(iri(type.id())))
                : Map.of(
                        "@id",
                        iri(statement.subject().id()),
                        iri(statement.predicate()),
                        List.of(object(statement.object())));
        Map<String, Object> node =
                statement.graph() == null ? said : Map.of("@id", iri(statement.graph()), "@graph", List.of(said));
        put(separator);
        put(Json.write(node));
        separator = ",\n";
    }

    private static Map<String, Object> object(Term term) {
        return switch (term) {
            case Term.Resource resource -> Map.of("@id", iri(resource.id()));
            case Term.Literal literal
            when literal.language() != null -> Map.of("@value", literal.lexical(), "@language", literal.language());
            case Term.Literal literal
            when literal.datatype().equals(Term.Literal.STRING) -> Map.of("@value", literal.lexical());
            case Term.Literal literal -> Map.of("@value", literal.lexical(), "@type", literal.datatype());
        };
    }

    /** A reader would take other names for terms of a context, and drop them. */
    private static String iri(String id) {
        if (id.indexOf(':') < 0) {
            throw new RdfFileException(id + " (expected: an IRI; CSV can hold any id)", 0, null);
        }
        return RdfFiles.requireIri(id);
    }

    @Override
    public void close() {
        put(separator.equals(",\n") ? "\n]\n" : "[]\n");
        try {
            out.flush();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void put(String text) {
        put(text.getBytes(StandardCharsets.UTF_8));
    }

    private void put(byte[] bytes) {
        try {
            out.write(bytes);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
