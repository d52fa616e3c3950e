package dev.parley.knowledge;

import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.protocol.A2AException;
import java.util.List;
import java.util.stream.Stream;

/**
 * Libraries of query languages, which a program may leave off its class path. Classes that need one are only loaded if it is there.
 */
final class Libraries {
    /** Whether GraphQL, and so subscriptions, can be served: graphql-java. */
    static final boolean GRAPHQL = isPresent("graphql.GraphQL");

    /** Whether SPARQL and SHACL can be served: Apache Jena. */
    static final boolean RDF =
            isPresent("org.apache.jena.query.Query") && isPresent("org.apache.jena.shacl.ShaclValidator");

    private static final List<String> LANGUAGES = Stream.of(
                    Stream.of(Query.GRAPHQL).filter(language -> GRAPHQL),
                    Stream.of(Query.SPARQL).filter(language -> RDF))
            .flatMap(language -> language)
            .toList();

    private Libraries() {}

    private static boolean isPresent(String name) {
        try {
            Class.forName(name, false, Libraries.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError missing) {
            return false;
        }
    }

    /** The query languages that can be served. */
    static List<String> languages() {
        return LANGUAGES;
    }

    /** @throws A2AException INVALID_PARAMS if a query language is not served */
    static void require(String field, String language) {
        if (!LANGUAGES.contains(language)) {
            throw A2AException.invalidParams(field, language + " (expected: one of " + LANGUAGES + ")");
        }
    }

    /** @throws A2AException INVALID_PARAMS if SHACL cannot be served */
    static void requireShapes() {
        if (!RDF) {
            throw A2AException.invalidParams("shapes", "SHACL is not available (expected: a hub with Apache Jena)");
        }
    }
}
