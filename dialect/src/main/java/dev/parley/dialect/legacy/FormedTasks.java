package dev.parley.dialect.legacy;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Operation.TaskWatch;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import java.util.List;

/** An agent that shows its tasks in another form. An ended task can be watched, as in 0.1: it shows how it ended. */
public record FormedTasks(AgentEndpoint agent, TaskForm form) implements AgentEndpoint {
    @Override
    @SuppressWarnings("unchecked") // the form of a task is a task
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        R result = agent.call(operation, context);
        return result instanceof TaskEvent event ? (R) form.of(event) : result;
    }

    @Override
    @SuppressWarnings("unchecked") // an operation of A2A streams events of tasks
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        return operation instanceof TaskWatch watch
                ? (Feed<E>)
                        events(watch, context).as(event -> new LoggedEvent(event.sequence(), form.of(event.event())))
                : agent.watch(operation, context);
    }

    private Feed<LoggedEvent> events(TaskWatch operation, CallContext context) {
        try {
            return agent.watch(operation, context);
        } catch (A2AException refused) {
            if (!(operation instanceof SubscribeToTask subscribe)
                    || refused.error() != A2AError.UNSUPPORTED_OPERATION) {
                throw refused;
            }
            Task task = agent.call(new GetTask(null, subscribe.id(), null), context);
            if (!task.state().isTerminal()) {
                throw refused;
            }
            return Feed.of(List.of(new LoggedEvent(0, task)));
        }
    }
}
