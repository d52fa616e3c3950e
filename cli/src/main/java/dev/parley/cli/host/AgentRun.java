package dev.parley.cli.host;

import dev.parley.cli.admin.HubAdmin;
import dev.parley.cli.command.ClientSettings;
import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.connection.Connection;
import dev.parley.cli.connection.Requests;
import dev.parley.cli.connection.WireLog;
import dev.parley.cli.task.TaskRun;
import dev.parley.client.spi.HttpCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code parley run -a AGENT -i TEXT}: a task of an agent that a registry, a URL or a file names, as AgentVault runs it. */
final class AgentRun {
    private static final String INPUT = "--input";
    private static final String REGISTRY_URL = "AGENTVAULT_REGISTRY_URL";

    private AgentRun() {}

    static Command describe(Command command) {
        return command.option(
                        Command.named("-i", INPUT, "TEXT", "Send this text to the agent of -a; @FILE reads a file."))
                .option("--context-file", "FILE", "JSON that the agent gets as mcp_context of the message.")
                .option(
                        "--registry",
                        "HUB",
                        "Registry that has the agent, if -a is its readable id or URN; default: " + REGISTRY_URL
                                + ", or " + ClientSettings.LOCAL_HUB + ".")
                .option("--output-artifacts", "DIR", "Save artifacts of more than 1 KB there; others are shown.");
    }

    static boolean isMeant(Invocation call) {
        return call.has(INPUT);
    }

    static int run(Invocation call) throws InterruptedException {
        if (call.argument(0) != null) {
            throw CommandException.usage("FILE and --input together (expected: one of them)", null);
        }
        String reference = call.agent().card();
        Path registered = null;
        try {
            Message message = message(call);
            registered = registered(call, reference);
            String card = registered == null ? reference : registered.toString();
            return Connection.open(call, card, agent -> TaskRun.run(call, agent, message));
        } catch (CommandException failed) {
            throw failed.exitStatus() == Kind.USAGE.exitStatus() ? failed : failed.withExitStatus(1);
        } catch (IOException failed) {
            throw CommandException.usage(String.valueOf(failed.getMessage()), null);
        } finally {
            delete(registered);
        }
    }

    private static void delete(@Nullable Path file) {
        try {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        } catch (IOException inUse) {
            file.toFile().deleteOnExit();
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

    /** A file with the card of an agent that a registry has; null if the reference is an address or a file. */
    private static @Nullable Path registered(Invocation call, String reference) throws IOException {
        boolean urn = reference.startsWith("urn:");
        boolean readable = reference.matches("[A-Za-z0-9._-]+/[A-Za-z0-9._-]+") && !Files.exists(call.path(reference));
        if (!urn && !readable) {
            return null;
        }
        String typed = call.option("--registry");
        String variable = call.around().environment().get(REGISTRY_URL);
        String hub = (typed != null ? typed : variable != null ? variable : ClientSettings.LOCAL_HUB)
                .replaceFirst("/+$", "");
        String url = urn
                ? hub + "/registry/agents/" + HubAdmin.segment(reference) + "/card"
                : hub + "/api/v1/agent-cards/id/" + reference;
        HttpCall.Answer answer = Requests.read(
                "name the registry with --registry",
                () -> Requests.client(call, WireLog.of(call))
                        .exchange(new HttpCall("GET", url, Map.of("Accept", "application/json"), new byte[0])));
        if (answer.status() != 200) {
            throw Requests.refused(
                    Kind.CARD_NOT_FOUND,
                    "the registry " + hub + " has no agent " + reference + " for you",
                    answer.status(),
                    answer.body(),
                    "parley discover lists agents");
        }
        byte[] card = urn
                ? answer.body()
                : Json.write(Json.read(answer.body(), Map.class).get("card_data"));
        Path file = Files.createTempFile("parley-card", ".json");
        Files.write(file, card);
        return file;
    }
}
