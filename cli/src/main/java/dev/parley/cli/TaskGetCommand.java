package dev.parley.cli;

import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley task get}. Source: a2a-cli specification 0.2, section 10.3. */
final class TaskGetCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, false, "TASK-ID", "The task."));
        spec.addOption(Command.option("--history", "N", "Show at most N of the newest messages."));
    }

    @Override
    public List<Setting<?>> relevant() {
        return Command.connectionAnd(Setting.WAIT, Setting.POLL_INTERVAL, Setting.TIMEOUT);
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        String id = call.taskId();
        Integer history = call.number("--history", 0, Integer.MAX_VALUE);
        boolean wait = call.settings().isOn(Setting.WAIT);
        return Connection.open(call, agent -> {
            Task task = wait
                    ? new Follow(agent, call, event -> {}).poll(id)
                    : agent.client().call(new Operation.GetTask(null, id, history), CallContext.anonymous());
            new TaskReport(call).task(task);
            return 0;
        });
    }
}
