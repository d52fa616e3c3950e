package dev.parley.cli;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Role;
import dev.parley.protocol.SendResult;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley send}. Source: a2a-cli specification 0.2, section 10.2. */
final class SendCommand implements Command {
    /** Refusals of the task that was to be continued. */
    private static final Set<A2AError> ABOUT_THE_TASK =
            Set.of(A2AError.TASK_NOT_FOUND, A2AError.UNSUPPORTED_OPERATION, A2AError.INVALID_PARAMS);

    private final MessageParts parts = new MessageParts();

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Command.argument(
                0, false, "TEXT", "The text to send; - reads it from standard input, @FILE from a file."));
        parts.describe(spec);
        spec.addOption(Command.streamOption());
    }

    @Override
    public List<Setting<?>> relevant() {
        return Command.connectionAnd(
                Setting.TASK_ID,
                Setting.CONTEXT_ID,
                Setting.METADATA,
                Setting.ASYNC,
                Setting.WAIT,
                Setting.POLL_INTERVAL,
                Setting.TIMEOUT);
    }

    @Override
    public int run(Invocation call) throws InterruptedException {
        boolean async = call.settings().isAsync();
        if (async && call.isStreaming()) {
            if (call.settings().source(Setting.ASYNC) == Settings.Source.FLAG) {
                throw CliException.usage("--async and --stream contradict each other", "leave one of them out");
            }
            async = false;
        }
        Message message = Message.of(Role.USER, parts.parts(call.argument(0), call))
                .in(call.get(Setting.CONTEXT_ID), call.get(Setting.TASK_ID));
        Map<String, @Nullable Object> metadata = call.get(Setting.METADATA);
        var request = new Operation.SendMessage(
                null,
                message,
                new SendConfiguration(List.of(), null, null, true),
                metadata == null ? Map.of() : metadata);
        boolean immediately = async;
        return Connection.open(call, agent -> {
            send(call, agent, request, immediately);
            return 0;
        });
    }

    private static void send(Invocation call, Connection agent, Operation.SendMessage request, boolean async)
            throws InterruptedException {
        var report = new TaskReport(call);
        try {
            if (async) {
                report.sent(agent.client().call(request, CallContext.anonymous()));
            } else if (call.isStreaming()) {
                SendResult result = new Follow(agent, call, report::event).send(request.message(), request);
                report.streamed(result);
            } else {
                report.sent(new Follow(agent, call, event -> {}).send(request.message(), request));
            }
        } catch (A2AException refused) {
            if (request.message().taskId() == null || !ABOUT_THE_TASK.contains(refused.error())) {
                throw refused;
            }
            throw new CliException(
                    Problems.of(refused, agent.place())
                            .withHint("the agent does not take messages for task "
                                    + request.message().taskId()
                                    + "; no other task was made. Repeat with --debug to see its answer"),
                    refused);
        }
    }
}
