package dev.parley.registry.client.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandOutput;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.Codecs;
import dev.parley.registry.EntryOperation;
import dev.parley.registry.SearchOperation;
import dev.parley.registry.SearchOperation.Reasons;
import dev.parley.registry.client.PeerOutcome;
import dev.parley.registry.client.Registry;
import dev.parley.registry.client.RegistryException;
import dev.parley.registry.client.Results;
import dev.parley.registry.client.Results.Found;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley discover}: finds agents at a registry and its peers, and sends a text to the best. */
final class DiscoverCommand implements ProgramCommand {
    private static final int LIMIT = 25;

    @Override
    public Target target() {
        return Target.ADMINISTRATION;
    }

    @Override
    public List<String> settings() {
        return List.of("--trust");
    }

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(
                Parameters.words(false, "TEXT", "What the agent shall do, in words; without it all are listed."));
        spec.addOption(Parameters.option("--limit", "N", "Largest number of results; default: " + LIMIT + "."));
        spec.addOption(Parameters.flag("--no-peers", "Ask this registry only, not its peers."));
        spec.addOption(Parameters.option(
                "--run", "TEXT", "Send this text to the best agent, without credentials; - reads standard input."));
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        Integer limit = call.number("--limit", 1, Registry.MOST_RESULTS);
        String hub = AgentCommand.hub(call);
        String wanted = call.argument(0);
        if (wanted == null && call.has("--run")) {
            throw CommandException.usage("--run without TEXT (expected: what the agent shall do)", null);
        }
        return call.connect(Registry.agent(hub), client -> {
            if (wanted == null) {
                Map<String, Object> page = Map.of("pageSize", requireNonNullElse(limit, LIMIT));
                AgentCommand.answer(call, client, EntryOperation.LIST, page);
                return 0;
            }
            Registry registry = Registry.of(client, hub, call::clients);
            var verifier = call.verifier();
            if (verifier != null) {
                var unused = registry.revocations(verifier);
            }
            try {
                Results results = registry.find(wanted, requireNonNullElse(limit, LIMIT), !call.has("--no-peers"));
                results.revoked()
                        .forEach(found -> call.output().note("agent " + found.id() + " is revoked, and left out"));
                String text = call.option("--run");
                return text == null ? list(call, results) : send(call, results.best(), call.text(text));
            } catch (RegistryException refused) {
                throw CommandException.failed(
                        "PARLEY_ERR_REGISTRY", String.valueOf(refused.getMessage()), "parley agent list shows all");
            }
        });
    }

    private static int list(CommandCall call, Results results) {
        if (call.output().isJson()) {
            var json = new LinkedHashMap<String, Object>();
            json.put(
                    "results",
                    results.all().stream()
                            .map(found -> Json.read(found.json(), Map.class))
                            .toList());
            json.put("peers", Codecs.list(PeerOutcome.JSON).toJson(results.peers()));
            json.put("revoked", results.revoked().stream().map(Found::id).toList());
            call.output().print(new String(Json.write(json), UTF_8) + "\n");
            return 0;
        }
        List<Map<String, Object>> rows = results.all().stream()
                .map(found -> {
                    var row = new LinkedHashMap<String, Object>();
                    row.put("score", found.score());
                    row.put("name", found.name());
                    row.put("id", found.id());
                    row.put("source", found.source());
                    Reasons why = found.why();
                    row.put("why", why == null ? "" : requireNonNull(SearchOperation.REASONS.toJson(why)));
                    return (Map<String, Object>) row;
                })
                .toList();
        if (rows.isEmpty()) {
            call.output().note("no agent found for \"" + results.text() + "\"");
        } else {
            call.output().print(JsonTable.of(rows).text());
        }
        results.peers().stream()
                .filter(peer -> !peer.outcome().equals("ok") || !peer.reason().isEmpty())
                .forEach(peer -> call.output()
                        .note("peer " + peer.peer() + ": " + peer.outcome()
                                + (peer.reason().isEmpty() ? "" : ", " + peer.reason())));
        return 0;
    }

    private static int send(CommandCall call, Found best, String text) {
        CommandOutput out = call.output();
        out.note("sending to " + best.name() + " (" + best.id() + ")");
        SendResult answer = best.send(text);
        out.result(() -> answer instanceof Task task ? Json.write(task) : Json.write((Message) answer), page -> {
            switch (answer) {
                case Task task -> {
                    page.field("Task-ID", task.id())
                            .field("State", task.state().name().toLowerCase(Locale.ROOT));
                    task.artifacts()
                            .forEach(artifact -> page.block(
                                    artifact.name() == null ? artifact.artifactId() : artifact.name(),
                                    text(artifact.parts())));
                    Message said = task.status().message();
                    if (said != null) {
                        page.block("Message", said.text());
                    }
                }
                case Message message -> page.block("Message", message.text());
            }
        });
        return answer instanceof Task task && task.state() != TaskState.COMPLETED ? 1 : 0;
    }

    private static String text(List<Part> parts) {
        return parts.stream()
                .map(part -> part instanceof Part.Text text ? text.text() : new String(Json.write(part), UTF_8))
                .collect(Collectors.joining("\n"));
    }
}
