package dev.parley.knowledge.hub;

import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.KnowledgeTokenVerifier;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Passes the tokens in the metadata of knowledge operations to their verifier, and removes them from the operations. */
record GraphTokens(
        KnowledgeEndpoint graph,
        @Nullable KnowledgeTokenVerifier verifier,
        BiFunction<String, CallContext, String> tasks)
        implements KnowledgeEndpoint {
    @Override
    public List<String> queryLanguages() {
        return graph.queryLanguages();
    }

    @Override
    public QueryResult query(Query query, CallContext context) {
        Query plain = verified(
                query.metadata(),
                context,
                metadata -> new Query(
                        query.query(),
                        query.language(),
                        query.variables(),
                        query.requiredCertainty(),
                        query.maxAge(),
                        query.taskId(),
                        query.sessionId(),
                        metadata));
        return graph.query(plain, context);
    }

    @Override
    public UpdateResult update(Update update, CallContext context) {
        Update verified = verified(update.metadata(), context, update::with);
        String task = verified.taskId();
        return graph.update(task == null ? verified : verified.forTask(tasks.apply(task, context)), context);
    }

    @Override
    public Feed<KnowledgeOperation.Change> subscribe(Subscribe subscription, CallContext context) {
        return graph.subscribe(verified(subscription.metadata(), context, subscription::with), context);
    }

    @Override
    public String schema(CallContext context) {
        return graph.schema(context);
    }

    private <O extends KnowledgeOperation> O verified(
            Map<String, @Nullable Object> metadata,
            CallContext context,
            Function<Map<String, @Nullable Object>, O> operation) {
        var tokens = new LinkedHashMap<String, @Nullable Object>();
        var others = new LinkedHashMap<String, @Nullable Object>();
        metadata.forEach((name, value) -> (isToken(name) ? tokens : others).put(name, value));
        O plain = operation.apply(others);
        if (verifier != null && !tokens.isEmpty()) {
            verifier.verify(plain, tokens, context);
        }
        return plain;
    }

    private static boolean isToken(String name) {
        return name.equals("token") || name.equals("authorization") || name.startsWith("credential");
    }
}
