package dev.parley.cli;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
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
            new TaskReport(call).task(agent.client().call(cancel, CallContext.anonymous()));
            return 0;
        });
    }
}
