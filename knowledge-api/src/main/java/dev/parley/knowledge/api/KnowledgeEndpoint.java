package dev.parley.knowledge.api;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionUri;
import java.util.List;

/**
 * Anything that answers the operations of the knowledge graph extension: a graph on this machine, or an agent elsewhere.
 *
 * <p>Which statements there are for a caller is decided by the group of its {@linkplain CallContext#scope() scope}.
 *
 * <p>Safe for any number of threads. Calls block; run them on virtual threads.
 */
public interface KnowledgeEndpoint {
    /** Path at which a server has the specification of the extension. */
    String EXTENSION_PATH = "/extensions/knowledge-graph/v1";

    /** URI that identifies the extension in cards, headers and messages; the address of its specification at any server is an alias. */
    String EXTENSION_URI = ExtensionUri.permanent(EXTENSION_PATH);

    /** The query languages that it understands, the preferred one first. */
    List<String> queryLanguages();

    /**
     * Answers a question.
     *
     * @throws A2AException KNOWLEDGE_QUERY if the query is not one or is too much; ALIGNMENT_VIOLATION if it may not be
     *     asked
     */
    KnowledgeOperation.QueryResult query(KnowledgeOperation.Query query, CallContext context);

    /**
     * Changes statements. When it returns, the change is on disk.
     *
     * @throws A2AException KNOWLEDGE_UPDATE if it conflicts with present statements; ALIGNMENT_VIOLATION if a rule forbids it;
     *     nothing has changed
     */
    KnowledgeOperation.UpdateResult update(KnowledgeOperation.Update update, CallContext context);

    /**
     * Opens a stream of changes, in the order of their commits. Its position is the id of the change after which it began, to be given as
     * {@code metadata.afterChangeId}.
     *
     * @throws A2AException KNOWLEDGE_SUBSCRIPTION if the query is malformed; ALIGNMENT_VIOLATION if it may not be watched;
     *     nothing is left open
     */
    Feed<KnowledgeOperation.Change> subscribe(KnowledgeOperation.Subscribe subscription, CallContext context);

    /**
     * The GraphQL schema as the caller sees it, in its definition language.
     *
     * @throws A2AException UNSUPPORTED_OPERATION if there is none
     */
    default String schema(CallContext context) {
        throw A2AException.of(A2AError.UNSUPPORTED_OPERATION);
    }

    private static void requireLanguage(String language, List<String> known) {
        if (!known.contains(language)) {
            String shown = language.length() > 60 ? language.substring(0, 60) + "…" : language;
            throw A2AException.invalidParams(
                    "queryLanguage", '"' + shown + "\" (expected: " + String.join(" or ", known) + ")");
        }
    }

    /** The graph whose operations {@code endpoint} answers. */
    static KnowledgeEndpoint of(AgentEndpoint endpoint, List<String> languages) {
        return new KnowledgeEndpoint() {
            @Override
            public List<String> queryLanguages() {
                return languages;
            }

            @Override
            public KnowledgeOperation.QueryResult query(KnowledgeOperation.Query query, CallContext context) {
                return endpoint.call(query, context);
            }

            @Override
            public KnowledgeOperation.UpdateResult update(KnowledgeOperation.Update update, CallContext context) {
                return endpoint.call(update, context);
            }

            @Override
            public Feed<KnowledgeOperation.Change> subscribe(
                    KnowledgeOperation.Subscribe subscription, CallContext context) {
                return endpoint.watch(subscription, context);
            }

            @Override
            public String schema(CallContext context) {
                return endpoint.call(new KnowledgeSchema(), context);
            }
        };
    }

    /** This as an endpoint, which answers the operations of the extension and refuses all others with METHOD_NOT_FOUND. */
    @SuppressWarnings("unchecked") // an operation's answer has the type that the operation names
    default AgentEndpoint endpoint() {
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                return switch (operation) {
                    case KnowledgeSchema schema -> (R) schema(context);
                    case KnowledgeOperation.Query query -> {
                        requireLanguage(query.language(), queryLanguages());
                        yield (R) query(query, context);
                    }
                    case KnowledgeOperation.Update update -> (R) update(update, context);
                    default -> throw A2AException.of(A2AError.METHOD_NOT_FOUND);
                };
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                if (operation instanceof KnowledgeOperation.Subscribe subscription) {
                    requireLanguage(subscription.language(), List.of(KnowledgeOperation.GRAPHQL));
                    return (Feed<E>) subscribe(subscription, context);
                }
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
        };
    }
}
