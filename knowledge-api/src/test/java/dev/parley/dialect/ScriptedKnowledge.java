package dev.parley.dialect;

import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A knowledge graph that answers as it is told, and remembers what it was asked. */
final class ScriptedKnowledge implements KnowledgeEndpoint {
    @Nullable
    KnowledgeOperation asked;

    @Nullable
    CallContext context;

    @Nullable
    A2AException failure;

    QueryResult found = new QueryResult(Map.of(), Map.of());
    UpdateResult updated = new UpdateResult(true, 1, List.of(), KnowledgeOperation.Verification.VERIFIED, null);
    List<Change> changes = List.of();

    @Override
    public String schema(CallContext context) {
        return "type Query { entity: String }";
    }

    @Override
    public List<String> queryLanguages() {
        return List.of("graphql", "sparql");
    }

    @Override
    public QueryResult query(KnowledgeOperation.Query query, CallContext context) {
        asked(query, context);
        return found;
    }

    @Override
    public UpdateResult update(KnowledgeOperation.Update update, CallContext context) {
        asked(update, context);
        return updated;
    }

    @Override
    public Feed<Change> subscribe(KnowledgeOperation.Subscribe subscription, CallContext context) {
        asked(subscription, context);
        return new Feed<Change>() {
            private @Nullable List<Change> left = changes;

            @Override
            public String position() {
                return "3f0c1a52-9c1e-4a53-8f6e-7f2b8f6f0a00";
            }

            @Override
            public @Nullable List<Change> next(Duration patience) {
                List<Change> next = left;
                left = null;
                return next;
            }

            @Override
            public void close() {
                left = null;
            }
        };
    }

    private void asked(KnowledgeOperation operation, CallContext caller) {
        asked = operation;
        context = caller;
        if (failure != null) {
            throw failure;
        }
    }
}
