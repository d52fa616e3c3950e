package dev.parley.knowledge.graphql;

import dev.parley.dialect.Json;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.ErrorKind;
import graphql.GraphQLError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Kinds of failure of a GraphQL query, with the code that a peer receives. */
enum GraphQlFailure {
    SYNTAX,
    VALIDATION,
    /** The document holds another kind of operation, none, or several. */
    OPERATION,
    DEPTH,
    COMPLEXITY,
    /** The query or its answer is too long. */
    SIZE,
    TIMEOUT,
    /** No part of the query could be answered. */
    EXECUTION;

    /** Returns the error for a query, with the errors of GraphQL after it. */
    A2AException because(List<? extends Map<String, Object>> errors) {
        return of(KnowledgeError.KNOWLEDGE_QUERY, errors);
    }

    /** Returns the error for a query. */
    A2AException because(String message) {
        return because(List.of(Map.of("message", message)));
    }

    static List<Map<String, Object>> specified(List<? extends GraphQLError> errors) {
        var all = new ArrayList<Map<String, Object>>();
        errors.forEach(error -> all.add(error.toSpecification()));
        return all;
    }

    private A2AException of(ErrorKind error, List<? extends Map<String, Object>> errors) {
        return A2AException.of(
                error,
                error.defaultMessage(),
                Map.of(
                        "reason",
                        name().toLowerCase(Locale.ROOT),
                        "errors",
                        new String(Json.write(errors), StandardCharsets.UTF_8)));
    }
}
