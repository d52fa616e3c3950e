package dev.parley.knowledge.api;

import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Feed;
import dev.parley.protocol.extension.ExtensionView;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graph as an agent uses it while it works on a task: it sees what its caller may see, and what it changes
 * is the agent's doing, for that task. Safe for any number of threads.
 */
public final class SharedKnowledge {
    /** For {@code Agent.Builder.uses} and {@code Request.extension}. */
    public static final ExtensionView<SharedKnowledge> VIEW =
            new ExtensionView<>(KnowledgeEndpoint.EXTENSION_URI, SharedKnowledge::new);

    private final ExtensionView.Use use;

    private SharedKnowledge(ExtensionView.Use use) {
        this.use = use;
    }

    /**
     * Asks in GraphQL.
     *
     * @throws A2AException as {@link KnowledgeEndpoint#query}
     */
    public QueryResult query(String graphql, Map<String, @Nullable Object> variables) {
        return query(Query.graphql(graphql, variables));
    }

    /** @throws A2AException as {@link KnowledgeEndpoint#query} */
    public QueryResult query(Query query) {
        return use.operations().call(query, use.caller());
    }

    /**
     * Changes statements, all of them or none.
     *
     * @param why reason, for people that read the history
     * @throws A2AException as {@link KnowledgeEndpoint#update}
     */
    public UpdateResult update(String why, Patch... patches) {
        return update(Update.of(patches).saying(null, why));
    }

    /**
     * Changes statements; the update is the agent's and the task's unless it says otherwise.
     *
     * @throws A2AException as {@link KnowledgeEndpoint#update}
     */
    public UpdateResult update(Update update) {
        String source = update.sourceAgentId() == null ? use.agent() : update.sourceAgentId();
        Update said = update.saying(source, update.justification());
        return use.operations().call(update.taskId() == null ? said.forTask(use.taskId()) : said, use.caller());
    }

    /**
     * Watches, by a GraphQL subscription. To be closed by the agent.
     *
     * @throws A2AException as {@link KnowledgeEndpoint#subscribe}
     */
    public Feed<KnowledgeOperation.Change> subscribe(String graphql, Map<String, @Nullable Object> variables) {
        return subscribe(Subscribe.graphql(graphql, variables));
    }

    /** @throws A2AException as {@link KnowledgeEndpoint#subscribe} */
    public Feed<KnowledgeOperation.Change> subscribe(Subscribe subscription) {
        return use.operations().watch(subscription, use.caller());
    }
}
