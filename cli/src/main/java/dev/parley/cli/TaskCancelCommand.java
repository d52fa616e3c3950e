package dev.parley.cli;

import dev.parley.client.spi.ClientException;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley task cancel}. Source: a2a-cli specification 0.2, section 10.4. */
final class TaskCancelCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, false, "TASK-ID", "The task."));
    }

    @Override
    public List<Setting<?>> relevant() {
        return Command.connectionAnd(Setting.METADATA);
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        String id = call.taskId();
        Map<String, @Nullable Object> metadata = call.get(Setting.METADATA);
        return Connection.open(call, agent -> {
            var cancel = new Operation.CancelTask(null, id, metadata == null ? Map.of() : metadata);
            try {
                new TaskReport(call, TaskState.CANCELED).task(agent.client().call(cancel, CallContext.anonymous()));
            } catch (A2AException refused) {
                throw refused.error() == A2AError.TASK_NOT_CANCELABLE ? ended(call, agent, id, refused) : refused;
            }
            return 0;
        });
    }

    /** Reads the task if it had already ended, so that its state is printed in any case. */
    private static RuntimeException ended(Invocation call, Connection agent, String id, A2AException refused) {
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
        Problem told = Problems.of(refused, agent.place());
        return new CliException(
                new Problem(
                        told.code(),
                        told.exitStatus(),
                        task.state().isTerminal()
                                ? "task " + id + " has ended already, in " + state
                                : "the agent does not cancel task " + id + ", which is in " + state,
                        "see what became of it: " + call.command("task", "get", Invocation.quoted(id)),
                        told.a2aCode()),
                refused);
    }
}
