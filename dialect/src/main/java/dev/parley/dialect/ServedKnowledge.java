package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.KnowledgeOperation.Query;
import dev.parley.protocol.KnowledgeOperation.QueryResult;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import dev.parley.protocol.KnowledgeOperation.Update;
import dev.parley.protocol.KnowledgeOperation.UpdateResult;
import java.util.List;
import java.util.function.Function;

/**
 * The knowledge graph that an agent lets its callers use. What they ask is checked here, whatever wire it came over.
 *
 * @param schema the GraphQL schema as a caller sees it, in its definition language
 * @param subscriptions false for an agent that does not stream
 */
public record ServedKnowledge(KnowledgeEndpoint endpoint, Function<CallContext, String> schema, boolean subscriptions) {
    public ServedKnowledge {
        requireNonNull(endpoint, "endpoint");
        requireNonNull(schema, "schema");
    }

    /** @throws A2AException INVALID_PARAMS if it does not know the language, and as {@link KnowledgeEndpoint#query} */
    public QueryResult query(Query query, CallContext context) {
        requireLanguage(query.language(), endpoint.queryLanguages());
        return endpoint.query(query, context);
    }

    /** @throws A2AException as {@link KnowledgeEndpoint#update} */
    public UpdateResult update(Update update, CallContext context) {
        return endpoint.update(update, context);
    }

    /**
     * @throws A2AException UNSUPPORTED_OPERATION if the agent does not stream, INVALID_PARAMS if it is in another language
     *     than GraphQL, and as {@link KnowledgeEndpoint#subscribe}
     */
    public Feed<KnowledgeOperation.Change> subscribe(Subscribe subscription, CallContext context) {
        if (!subscriptions) {
            throw A2AException.of(A2AError.UNSUPPORTED_OPERATION);
        }
        requireLanguage(subscription.language(), List.of(Subscribe.GRAPHQL));
        return endpoint.subscribe(subscription, context);
    }

    private static void requireLanguage(String language, List<String> known) {
        if (!known.contains(language)) {
            String shown = language.length() > 60 ? language.substring(0, 60) + "…" : language;
            throw A2AException.invalidParams(
                    "queryLanguage", '"' + shown + "\" (expected: " + String.join(" or ", known) + ")");
        }
    }
}
