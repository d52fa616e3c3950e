package dev.parley.cli.task;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.connection.Problems;
import dev.parley.client.spi.ClientException;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;

/** {@code parley task get}, {@code cancel} and {@code subscribe}. Source: a2a-cli specification 0.2, sections 9.2, 9.4, 10.3 and 10.4. */
public final class TaskCommands {
    private TaskCommands() {}

    public static Command get() {
        return Command.of(TaskCommands::show)
                .optional("TASK-ID", "The task.")
                .option("--history", "N", "Show at most N of the newest messages.")
                .agent("wait", "poll-interval", "timeout");
    }

    public static Command cancel() {
        return Command.of(TaskCommands::end).optional("TASK-ID", "The task.").agent("metadata");
    }

    public static Command subscribe() {
        return Command.of(TaskCommands::follow).optional("TASK-ID", "The task.").stream()
                .agent("poll-interval", "timeout");
    }

    private static int show(Invocation call) throws InterruptedException {
        String id = call.taskId();
        Integer history = call.number("--history", 0, Integer.MAX_VALUE);
        boolean wait = call.request().waits();
        return AgentConnection.open(call, agent -> {
            Task task = wait
                    ? new TaskWait(agent, call, event -> {}).poll(id)
                    : agent.client().call(new Operation.GetTask(null, id, history), CallContext.anonymous());
            new TaskReport(call).task(task);
            return 0;
        });
    }

    private static int end(Invocation call) throws InterruptedException {
        String id = call.taskId();
        var cancel = new Operation.CancelTask(null, id, call.request().metadata());
        return AgentConnection.open(call, agent -> {
            try {
                new TaskReport(call, TaskState.CANCELED).task(agent.client().call(cancel, CallContext.anonymous()));
            } catch (A2AException refused) {
                throw refused.error() == A2AError.TASK_NOT_CANCELABLE ? ended(call, agent, id, refused) : refused;
            }
            return 0;
        });
    }

    /** Reads the task if it had already ended, so that its state is printed in any case. */
    private static RuntimeException ended(Invocation call, AgentConnection agent, String id, A2AException refused) {
        Task task;
        try {
            task = agent.client().call(new Operation.GetTask(null, id, 0), CallContext.anonymous());
        } catch (A2AException | ClientException unknown) {
            return refused;
        }
        if (!call.output().isJson()) {
            new TaskReport(call).identity(task);
        }
        String state = TextView.name(task.state());
        return Problems.of(refused, agent.place())
                .withMessage(
                        task.state().isTerminal()
                                ? "task " + id + " has ended already, in " + state
                                : "the agent does not cancel task " + id + ", which is in " + state)
                .withHint("see what became of it: " + call.command("task", "get", Invocation.quoted(id)));
    }

    private static int follow(Invocation call) throws InterruptedException {
        String id = call.taskId();
        var report = new TaskReport(call);
        return AgentConnection.open(call, agent -> {
            try {
                if (call.isStreaming()) {
                    report.streamed(new TaskWait(agent, call, report::event).subscribe(id));
                } else {
                    report.task(new TaskWait(agent, call, event -> {}).subscribe(id));
                }
                return 0;
            } catch (A2AException refused) {
                if (refused.error() != A2AError.UNSUPPORTED_OPERATION) {
                    throw refused;
                }
                throw Problems.of(refused, agent.place())
                        .withHint("it may have ended already: " + call.command("task", "get", Invocation.quoted(id)));
            }
        });
    }
}
