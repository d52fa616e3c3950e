package dev.parley.activity.command;

import dev.parley.activity.ActivityProtocol;
import dev.parley.client.AgentClient;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.ProgramCommand;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import java.util.List;

/** A command on the activity of a hub, whose address or whose agent {@code activity} is that of {@code --agent-card}. */
abstract class HubCommand implements ProgramCommand {
    @Override
    public List<String> settings() {
        return List.of("--timeout");
    }

    static int connect(CommandCall call, CommandCall.Work work) throws InterruptedException {
        return call.connectToBuiltIn(ActivityProtocol.AGENT, work);
    }

    /**
     * Returns the answer of a hub about a task or a trace.
     *
     * @param unknown message if it does not exist
     */
    static <R> R read(AgentClient hub, Operation.Call<R> operation, String unknown) {
        try {
            return hub.call(operation, CallContext.anonymous());
        } catch (A2AException refused) {
            if (refused.error() != A2AError.TASK_NOT_FOUND) {
                throw refused;
            }
            throw new CommandException(
                    "TaskNotFoundError", 1, unknown, "list the tasks: parley tasks", -32001, refused);
        }
    }
}
