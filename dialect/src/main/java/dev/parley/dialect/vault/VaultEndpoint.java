package dev.parley.dialect.vault;

import dev.parley.dialect.legacy.LegacyEndpoint;
import dev.parley.dialect.legacy.Reworded;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;

/** An agent as clients of AgentVault expect it: ended tasks can be watched, and parts have the form of the dialect. */
final class VaultEndpoint implements AgentEndpoint {
    private final AgentEndpoint agent;
    private final PartForm form;

    VaultEndpoint(AgentEndpoint agent, PartForm form) {
        // The one field with a URL is called webhookUrl here.
        this.agent = new Reworded(agent, field -> field.equals("url") ? "webhookUrl" : field, text -> text);
        this.form = form;
    }

    @Override
    @SuppressWarnings("unchecked") // a task stays a task
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        R result = agent.call(operation, context);
        return result instanceof Task task ? (R) form.in(task) : result;
    }

    @Override
    @SuppressWarnings("unchecked") // an operation of A2A streams events of tasks
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return operation instanceof Operation.TaskWatch watch
                ? (Feed<E>) LegacyEndpoint.open(agent, watch, context)
                        .as(event -> new LoggedEvent(event.sequence(), form.in(event.event())))
                : agent.watch(operation, context);
    }
}
