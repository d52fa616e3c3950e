package dev.parley.cli.task;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.connection.Problems;
import dev.parley.command.CommandException;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code parley send}. Source: a2a-cli specification 0.2, section 10.2. */
public final class SendCommand {
    /** Refusals of the task that was to be continued. */
    private static final Set<A2AError> ABOUT_THE_TASK =
            Set.of(A2AError.TASK_NOT_FOUND, A2AError.UNSUPPORTED_OPERATION, A2AError.INVALID_PARAMS);

    private SendCommand() {}

    public static Command command() {
        var parts = new MessageParts();
        return parts
                .describe(Command.of(call -> run(call, parts))
                        .optional("TEXT", "The text to send; - reads it from standard input, @FILE from a file."))
                .stream()
                .agent("task-id", "context-id", "metadata", "async", "wait", "poll-interval", "timeout");
    }

    private static int run(Invocation call, MessageParts parts) throws InterruptedException {
        boolean async = call.settings().isAsync() && !call.isStreaming();
        if (call.settings().isAsync() && call.isStreaming() && call.settings().isTyped("async")) {
            throw CommandException.usage("--async and --stream contradict each other", "leave one of them out");
        }
        Message message = Message.of(Role.USER, parts.parts(call.argument(0), call))
                .in(call.request().contextId(), call.request().taskId());
        var request = new Operation.SendMessage(
                null,
                message,
                new SendConfiguration(List.of(), null, null, true),
                call.request().metadata());
        return AgentConnection.open(call, agent -> {
            var report = new TaskReport(call);
            SendResult result;
            try {
                result = async
                        ? agent.client().call(request, CallContext.anonymous())
                        : new TaskWait(agent, call, call.isStreaming() ? report::event : event -> {}).send(request);
            } catch (A2AException refused) {
                throw problem(refused, message.taskId(), agent.place());
            }
            if (call.isStreaming()) {
                report.streamed(result);
            } else {
                report.sent(result);
            }
            return 0;
        });
    }

    /** Explains a refusal of the task that was to be continued; others stay as they are. */
    private static RuntimeException problem(A2AException refused, @Nullable String taskId, Problems.Place place) {
        return taskId == null || !ABOUT_THE_TASK.contains(refused.error())
                ? refused
                : Problems.of(refused, place)
                        .withHint("the agent does not take messages for task " + taskId
                                + "; no other task was made. Repeat with --debug to see its answer");
    }
}
