package dev.parley.engine;

import static java.util.Objects.requireNonNull;

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
import dev.parley.protocol.Patch;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge graph as an agent uses it while it works on a task: it sees what its caller may see, and what it changes
 * is the agent's doing, for that task. Safe for any number of threads.
 */
public final class SharedKnowledge {
    private final KnowledgeEndpoint graph;
    private final String agent;
    private final String taskId;
    private final CallContext caller;

    SharedKnowledge(KnowledgeEndpoint graph, String agent, String taskId, CallContext caller) {
        this.graph = requireNonNull(graph, "graph");
        this.agent = agent;
        this.taskId = taskId;
        this.caller = caller;
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
        return graph.query(query, caller);
    }

    /**
     * Changes statements, all of them or none.
     *
     * @param why for people who read the history
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
        String source = update.sourceAgentId() == null ? agent : update.sourceAgentId();
        Update said = update.saying(source, update.justification());
        return graph.update(update.taskId() == null ? said.forTask(taskId) : said, caller);
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
        return graph.subscribe(subscription, caller);
    }
}
