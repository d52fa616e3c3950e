package dev.parley.knowledge.hub;

import dev.parley.knowledge.Graph;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds to the metadata of a task the ids of the changes of the knowledge graph that were made for it, when the task is read. Only
 * changes by its owner, or by an agent on behalf of its owner, are listed: any member of a group can name any task in a change. The
 * stored task stays as it is, so a change of the graph writes nothing to it.
 */
final class KnowledgeOfTasks implements AgentEndpoint {
    /** The member of a task's metadata that lists the ids of the changes, the oldest first. */
    static final String CHANGES = "knowledgeChanges";

    private final AgentEndpoint agent;
    private final Graph graph;

    KnowledgeOfTasks(AgentEndpoint agent, Graph graph) {
        this.agent = agent;
        this.graph = graph;
    }

    @Override
    @SuppressWarnings("unchecked") // reading a task brings a task
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        R result = agent.call(operation, context);
        return operation instanceof Operation.GetTask ? (R) shown((Task) result, context) : result;
    }

    private Task shown(Task task, CallContext context) {
        List<String> changes = graph.changesOf(task.id(), context);
        if (changes.isEmpty()) {
            return task;
        }
        var metadata = new LinkedHashMap<String, @Nullable Object>(task.metadata());
        metadata.put(CHANGES, changes);
        return new Task(
                task.id(),
                task.contextId(),
                task.status(),
                task.artifacts(),
                task.history(),
                metadata,
                task.generation());
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return agent.watch(operation, context);
    }
}
