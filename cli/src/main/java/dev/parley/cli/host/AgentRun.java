package dev.parley.cli.host;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.AgentConnection;
import dev.parley.cli.task.TaskRun;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;

/** {@code parley run -a AGENT -i TEXT}: a task of an agent that a registry, a URL or a file names, as AgentVault runs it. */
final class AgentRun {
    private static final String INPUT = "--input";

    private AgentRun() {}

    static Command describe(Command command) {
        return command.option(
                        Command.named("-i", INPUT, "TEXT", "Send this text to the agent of -a; @FILE reads a file."))
                .option("--context-file", "FILE", "JSON that the agent gets as mcp_context of the message.")
                .option("--output-artifacts", "DIR", "Save artifacts of more than 1 KB there; others are shown.");
    }

    static boolean isMeant(Invocation call) {
        return call.has(INPUT);
    }

    static int run(Invocation call) throws InterruptedException {
        if (call.argument(0) != null) {
            throw CommandException.usage("FILE and --input together (expected: one of them)", null);
        }
        try {
            Message message = message(call);
            return AgentConnection.open(call, agent -> TaskRun.run(call, agent, message));
        } catch (CommandException failed) {
            throw failed.exitStatus() == Kind.USAGE.exitStatus() ? failed : failed.withExitStatus(1);
        } catch (IOException failed) {
            throw CommandException.usage(String.valueOf(failed.getMessage()), null);
        }
    }

    private static Message message(Invocation call) throws IOException {
        String typed = String.valueOf(call.option(INPUT));
        String text = typed.startsWith("@") ? Files.readString(call.path(typed.substring(1))) : typed;
        Message message = Message.of(Role.USER, List.of(Part.text(text)));
        String context = call.option("--context-file");
        if (context == null) {
            return message;
        }
        Object json = CommandException.reading(
                "invalid --context-file: ", null, () -> Json.read(Files.readAllBytes(call.path(context)), Map.class));
        return new Message(
                message.messageId(),
                message.role(),
                message.parts(),
                null,
                null,
                Map.of("mcp_context", json),
                List.of(),
                List.of());
    }
}
