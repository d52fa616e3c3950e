package dev.parley.pipelines;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.client.AgentClient;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.pipelines.step.StepInput;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Runs a pipeline in a hub of its own, which ends with the command, and saves the files of its result. */
abstract class DemoCommand implements ProgramCommand {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Option(
            names = "--out",
            paramLabel = "<directory>",
            description = "Directory of the results (default: parley-demo below the working directory).")
    private String out = "parley-demo";

    /** Name of the document of the workflow, and of the first step. */
    abstract String pipeline();

    /** Parameters by the ids of their steps. */
    abstract Map<String, Map<String, @Nullable Object>> parameters(CommandCall call) throws IOException;

    /** Runs the pipeline with its agents; closes what they hold. */
    abstract int withAgents(Hosted run) throws InterruptedException;

    /** Work with the hosted agents. */
    interface Hosted {
        int run(List<Agent> agents) throws InterruptedException;
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        try {
            Map<String, @Nullable Object> document = document(parameters(call));
            Path directory = call.path(out);
            Files.createDirectories(directory);
            return withAgents(agents -> {
                try (Hub hub = Hub.builder()
                                .inMemory()
                                .port(0)
                                .agents(agents.toArray(Agent[]::new))
                                .start();
                        AgentClient one = AgentClient.connect(hub.url() + "/agents/one")) {
                    return follow(one, document, directory, call);
                }
            });
        } catch (IOException failed) {
            throw CommandException.of(Kind.USAGE, "cannot read or write: " + failed.getMessage(), null, failed);
        }
    }

    private int follow(AgentClient one, Map<String, @Nullable Object> document, Path directory, CommandCall call)
            throws InterruptedException {
        String id = one.call(new Run(document), CallContext.anonymous()).workflowId();
        try (Feed<RunView> changes = one.watch(new Watch(id, null), CallContext.anonymous())) {
            for (List<RunView> some = changes.next(PATIENCE); some != null; some = changes.next(PATIENCE)) {
                some.stream().flatMap(view -> view.steps().stream()).forEach(step -> progress(step, call));
            }
        }
        RunView last = one.call(new Get(id), CallContext.anonymous());
        if (last.state() != TaskState.COMPLETED) {
            throw CommandException.failed(
                    "workflow_failed",
                    "the pipeline ended with the state " + last.state().word()
                            + (last.message() == null ? "" : ": " + last.message()),
                    null);
        }
        try {
            for (Map.Entry<String, byte[]> file : files(one.task(id)).entrySet()) {
                Path saved = directory.resolve(Path.of(file.getKey()).getFileName());
                Files.write(saved, file.getValue());
                call.output().line(saved.toString());
            }
        } catch (IOException unwritable) {
            throw CommandException.of(
                    Kind.USAGE, "cannot write to " + out + ": " + unwritable.getMessage(), null, unwritable);
        }
        return 0;
    }

    private static void progress(StepView step, CommandCall call) {
        if (step.state() != StepState.WAITING) {
            String problem = step.problem() == null ? "" : ", " + step.problem();
            call.output().note(step.id() + ": " + step.state().word() + problem);
        }
    }

    /** The files of a result: bytes, and texts with a name. */
    private static Map<String, byte[]> files(Task run) {
        var files = new LinkedHashMap<String, byte[]>();
        run.artifacts().stream().flatMap(artifact -> artifact.parts().stream()).forEach(part -> {
            switch (part) {
                case Part.Raw file when file.filename() != null -> files.put(file.filename(), file.raw());
                case Part.Text text
                when text.filename() != null ->
                    files.put(text.filename(), text.text().getBytes(UTF_8));
                default -> {} // counts of rows
            }
        });
        return files;
    }

    /** Parameters of the command as they are, with the results of other steps as the agents of a pipeline read them. */
    private static Map<String, @Nullable Object> withResults(
            Map<String, @Nullable Object> own, List<@Nullable Object> steps) {
        Map<String, @Nullable Object> parameters = StepInput.object(literal(own));
        if (!steps.isEmpty()) {
            var inputs = new LinkedHashMap<String, @Nullable Object>();
            steps.forEach(step -> inputs.put(String.valueOf(step), "${" + step + ".data}"));
            parameters = new LinkedHashMap<>(parameters);
            parameters.put("inputs", inputs);
        }
        return parameters;
    }

    /** A value without references. */
    private static @Nullable Object literal(@Nullable Object value) {
        return switch (value) {
            case String text -> text.replace("${", "$${");
            case Map<?, ?> members -> {
                var literal = new LinkedHashMap<String, @Nullable Object>();
                members.forEach((name, member) -> literal.put(String.valueOf(name), literal(member)));
                yield literal;
            }
            case List<?> elements -> {
                var literal = new ArrayList<@Nullable Object>();
                elements.forEach(element -> literal.add(literal(element)));
                yield literal;
            }
            case null, default -> value;
        };
    }

    private Map<String, @Nullable Object> document(Map<String, Map<String, @Nullable Object>> parameters)
            throws IOException {
        Map<String, @Nullable Object> document = new LinkedHashMap<>(object(sample(pipeline() + ".json"), "workflow"));
        List<Map<String, @Nullable Object>> steps =
                StepInput.array(StepInput.object(document.get("workflow")).get("steps")).stream()
                        .map(step -> {
                            var filled = new LinkedHashMap<>(StepInput.object(step));
                            Map<String, @Nullable Object> own = parameters.get(String.valueOf(filled.get("id")));
                            if (own != null) {
                                filled.put("parameters", withResults(own, StepInput.array(filled.get("depends"))));
                            }
                            return (Map<String, @Nullable Object>) filled;
                        })
                        .toList();
        document.put("workflow", Map.of("steps", steps));
        return document;
    }

    /** @throws CommandException if it is not a JSON object */
    static Map<String, @Nullable Object> object(byte[] json, String name) {
        try {
            return StepInput.object(Json.read(json, Map.class));
        } catch (A2AException malformed) {
            throw CommandException.usage(name + ": " + malformed.getMessage(), null);
        }
    }

    /** A file as a parameter of a step. */
    static Map<String, @Nullable Object> file(String name, byte[] bytes) {
        return Map.of(
                "filename",
                name,
                "mediaType",
                mediaType(name),
                "raw",
                Base64.getEncoder().encodeToString(bytes));
    }

    private static String mediaType(String name) {
        return switch (name.substring(name.lastIndexOf('.') + 1)) {
            case "csv" -> "text/csv";
            case "jsonl", "ndjson" -> "application/x-ndjson";
            case "html", "htm" -> "text/html";
            case "md" -> "text/markdown";
            case "pdf" -> "application/pdf";
            default -> "text/plain";
        };
    }

    static byte[] sample(String name) throws IOException {
        try (InputStream in = requireNonNull(DemoCommand.class.getResourceAsStream(name), name)) {
            return in.readAllBytes();
        }
    }
}
