package dev.parley.cli;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley task subscribe}. Source: a2a-cli specification 0.2, sections 9.2 and 9.4. */
final class TaskSubscribeCommand implements Command {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(0, false, "TASK-ID", "The task."));
        spec.addOption(Command.streamOption());
    }

    @Override
    public List<Setting<?>> relevant() {
        return Command.connectionAnd(Setting.POLL_INTERVAL, Setting.TIMEOUT);
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        String id = call.taskId();
        var report = new TaskReport(call);
        return Connection.open(call, agent -> {
            try {
                if (call.isStreaming()) {
                    report.streamed(new Follow(agent, call, report::event).subscribe(id));
                } else {
                    report.task(new Follow(agent, call, event -> {}).subscribe(id));
                }
                return 0;
            } catch (A2AException refused) {
                if (refused.error() != A2AError.UNSUPPORTED_OPERATION) {
                    throw refused;
                }
                throw new CliException(
                        Problems.of(refused, agent.place())
                                .withHint("it may have ended already: "
                                        + call.command("task", "get", Invocation.quoted(id))),
                        refused);
            }
        });
    }
}
