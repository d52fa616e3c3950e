package dev.parley.mesh.workflow.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.AgentClient;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandOutput.Fields;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.mesh.workflow.DefinitionDocument;
import dev.parley.mesh.workflow.Workflow;
import dev.parley.mesh.workflow.WorkflowGraph;
import dev.parley.mesh.workflow.WorkflowOperation;
import dev.parley.mesh.workflow.WorkflowOperation.Cancel;
import dev.parley.mesh.workflow.WorkflowOperation.DefinitionPage;
import dev.parley.mesh.workflow.WorkflowOperation.DefinitionView;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.GetDefinition;
import dev.parley.mesh.workflow.WorkflowOperation.ListDefinitions;
import dev.parley.mesh.workflow.WorkflowOperation.ListRuns;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunPage;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.mesh.workflow.WorkflowProtocol;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.nio.file.Files;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code parley workflow …}: the runs of a hub, whose address or whose agent {@code one} is that of {@code --agent-card}. */
abstract class WorkflowCommand implements ProgramCommand {
    static final CallContext CALLER = CallContext.anonymous();
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String FILE = "The document, in JSON or YAML; - for standard input.";
    private static final String RUN = "Id of the run, as \"parley workflow run\" shows it.";

    @Override
    public List<String> settings() {
        return List.of("--timeout");
    }

    static int connect(CommandCall call, CommandCall.Work work) throws InterruptedException {
        return call.connectToBuiltIn(WorkflowProtocol.AGENT, work);
    }

    private static int show(CommandCall call, RunView run) {
        call.output().result(() -> WorkflowProtocol.json(run), page -> page(page, run));
        return 0;
    }

    private static void page(Fields page, RunView run) {
        page.field("Workflow-ID", run.workflowId())
                .field("State", run.state().word())
                .field("Progress", run.progress() + " %")
                .field("Definition", definition(run))
                .field("Resumes", run.origin().get("resumes"))
                .field("Repeats", run.origin().get("repeats"))
                .field("Message", run.message());
        if (!run.steps().isEmpty()) {
            page.gap();
            run.steps().forEach(step -> page.field(step.id(), text(step)));
        }
        if (!run.result().isEmpty()) {
            page.gap();
            run.result().forEach((step, value) -> {
                if (value instanceof String text) {
                    page.block(step, text);
                } else {
                    page.layout(step, value);
                }
            });
        }
    }

    private static @Nullable String definition(RunView run) {
        Object name = run.origin().get("definition");
        return name == null ? null : name + " version " + run.origin().get("version");
    }

    private static String text(StepView step) {
        return step.state().word()
                + (step.agent() == null ? "" : "  " + step.agent() + ": " + step.task())
                + (step.depends().isEmpty() ? "" : "  after " + String.join(", ", step.depends()))
                + (step.choice().isEmpty()
                        ? ""
                        : "  chosen, score " + step.choice().get("score"))
                + (step.attempts() > 1 ? "  attempt " + step.attempts() : "")
                + (step.problem() == null ? "" : "  (" + step.problem() + ")");
    }

    /** Draws the changes of a run on standard error, and shows the run at its end. The status is 1 if it did not complete. */
    private static int follow(CommandCall call, AgentClient one, String id) throws InterruptedException {
        var drawing = new RunDrawing(call.err(), call.isTerminal());
        TaskState state = null;
        try (Feed<RunView> changes = one.watch(new Watch(id, null), CALLER)) {
            while (state == null || !state.isTerminal() && state != TaskState.INPUT_REQUIRED) {
                List<RunView> next = changes.next(PATIENCE);
                if (next == null) {
                    break;
                }
                for (RunView change : next) {
                    state = change.state();
                    drawing.draw(change);
                }
            }
        }
        RunView last = one.call(new Get(id), CALLER);
        var unused = show(call, last);
        return last.state().isTerminal() && last.state() != TaskState.COMPLETED ? 1 : 0;
    }

    private static final String ASYNC = "--async";

    /** Shows a run that has begun, or follows it to its end. */
    private static int begun(CommandCall call, AgentClient one, RunView run) throws InterruptedException {
        if (!call.has(ASYNC)) {
            return follow(call, one, run.workflowId());
        }
        call.output().note(run.steps().size() + " steps; follow them: parley workflow watch " + run.workflowId());
        return show(call, run);
    }

    private static OptionSpec async() {
        return Parameters.flag(ASYNC, "Return when the run has begun, instead of at its end.");
    }

    /** Starts a run. */
    static final class Start extends WorkflowCommand {
        private static final String INPUT = "--input";
        private static final String INPUTS = "--inputs";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(
                    0,
                    true,
                    "FILE|NAME",
                    "A document, in JSON or YAML; - for standard input; or the name of a definition."));
            spec.addOption(OptionSpec.builder(INPUT)
                    .type(List.class)
                    .auxiliaryTypes(String.class)
                    .arity("1")
                    .paramLabel("NAME=VALUE")
                    .description("An input: a text, or JSON if the schema of the input wants another type; repeatable.")
                    .build());
            spec.addOption(Parameters.option(INPUTS, "JSON|@FILE", "All inputs as a JSON object."));
            spec.addOption(Definition.version());
            spec.addOption(async());
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            String source = call.requiredArgument(0);
            if (isFile(call, source)) {
                if (call.option(Definition.VERSION) != null) {
                    throw CommandException.usage(
                            "--version: a file has none (expected: the name of a definition)", null);
                }
                WorkflowFile file = WorkflowFile.read(call, source);
                var unused = file.checked();
                Object schema =
                        DefinitionDocument.is(file.document()) ? file.document().get("inputs") : null;
                Map<String, @Nullable Object> document = file.filled(inputs(call, schema));
                return connect(call, one -> begun(call, one, one.call(new Run(document), CALLER)));
            }
            Integer version = call.number(Definition.VERSION, 1, Integer.MAX_VALUE);
            return connect(call, one -> {
                DefinitionView definition = one.call(new GetDefinition(source, version), CALLER);
                Map<String, @Nullable Object> inputs =
                        inputs(call, definition.document().get("inputs"));
                Map<String, @Nullable Object> document =
                        Map.of("definition", definition.name(), "version", definition.version(), "inputs", inputs);
                return begun(call, one, one.call(new Run(document), CALLER));
            });
        }

        private static boolean isFile(CommandCall call, String source) {
            return source.equals("-")
                    || source.contains("/")
                    || source.matches("(?i).*\\.(json|ya?ml)")
                    || Files.exists(call.path(source));
        }

        private static Map<String, @Nullable Object> inputs(CommandCall call, @Nullable Object schema) {
            var inputs = new LinkedHashMap<String, @Nullable Object>();
            String all = call.option(INPUTS);
            if (all != null) {
                inputs.putAll(json(INPUTS, call.text(all), Codecs.STRUCT));
            }
            for (String each : call.options(INPUT)) {
                int equals = each.indexOf('=');
                if (equals <= 0) {
                    throw CommandException.usage(INPUT + " \"" + each + "\": no value (expected: NAME=VALUE)", null);
                }
                String name = each.substring(0, equals);
                inputs.put(name, value(each.substring(equals + 1), schema, name));
            }
            return inputs;
        }

        private static Object value(String text, @Nullable Object schema, String name) {
            Object type = schema instanceof Map<?, ?> of
                            && of.get("properties") instanceof Map<?, ?> properties
                            && properties.get(name) instanceof Map<?, ?> property
                    ? property.get("type")
                    : null;
            return type == null || type.equals("string") ? text : json(INPUT + " " + name, text, Codecs.FREE);
        }

        private static <T> T json(String option, String text, Codec<T> codec) {
            try {
                return JsonText.request(text.getBytes(UTF_8), codec);
            } catch (A2AException malformed) {
                throw CommandException.usage(option + ": " + malformed.getMessage(), null);
            }
        }
    }

    /** A command on one run. */
    abstract static class OfRun extends WorkflowCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "ID", RUN));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            return connect(call, one -> run(call, one, call.requiredArgument(0)));
        }

        abstract int run(CommandCall call, AgentClient one, String id) throws InterruptedException;
    }

    /** Follows a run. */
    static final class FollowRun extends OfRun {
        @Override
        int run(CommandCall call, AgentClient one, String id) throws InterruptedException {
            return follow(call, one, id);
        }
    }

    /** Shows a run, or a definition. */
    static final class Show extends WorkflowCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "ID|NAME", "Id of a run, or name of a definition."));
            spec.addOption(Definition.version());
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            String named = call.requiredArgument(0);
            Integer version = call.number(Definition.VERSION, 1, Integer.MAX_VALUE);
            return connect(call, one -> {
                if (version == null) {
                    try {
                        return show(call, one.call(new Get(named), CALLER));
                    } catch (A2AException unknown) {
                        if (unknown.error() != A2AError.TASK_NOT_FOUND) {
                            throw unknown;
                        }
                    }
                }
                return Definition.show(call, one.call(new GetDefinition(named, version), CALLER));
            });
        }
    }

    /** Resumes a run that failed, or repeats a run. */
    static final class Again extends OfRun {
        private final Function<String, Operation.Call<RunView>> operation;

        Again(Function<String, Operation.Call<RunView>> operation) {
            this.operation = operation;
        }

        @Override
        public void describe(CommandSpec spec) {
            super.describe(spec);
            spec.addOption(async());
        }

        @Override
        int run(CommandCall call, AgentClient one, String id) throws InterruptedException {
            return begun(call, one, one.call(operation.apply(id), CALLER));
        }
    }

    /** Cancels a run. */
    static final class Stop extends OfRun {
        @Override
        int run(CommandCall call, AgentClient one, String id) {
            return show(call, one.call(new Cancel(id), CALLER));
        }
    }

    /** Lists definitions and runs. */
    static final class ListAll extends WorkflowCommand {
        private static final int MOST = 10_000;
        private static final String DEFINITIONS = "--definitions";
        private static final String RUNS = "--runs";

        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Parameters.option(
                    "--state",
                    "STATE",
                    "Only runs in this state: submitted, working, input-required, completed, failed, canceled."));
            spec.addOption(Parameters.option("--most", "N", "Limit of runs; default: 50."));
            spec.addOption(Parameters.flag(DEFINITIONS, "Only stored definitions."));
            spec.addOption(Parameters.flag(RUNS, "Only runs."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            Integer most = call.number("--most", 1, MOST);
            boolean ofRuns = call.has(RUNS) || call.option("--state") != null || most != null;
            if (ofRuns && call.has(DEFINITIONS)) {
                throw CommandException.usage(
                        "--definitions: not possible beside --runs, --state or --most (expected: one of them)", null);
            }
            return connect(call, one -> {
                if (!ofRuns) {
                    definitions(call, one);
                }
                if (call.has(DEFINITIONS)) {
                    return 0;
                }
                int left = most == null ? 50 : most;
                String typed = call.option("--state");
                TaskState state = typed == null ? null : WorkflowProtocol.typedState(typed);
                String token = null;
                do {
                    RunPage page = one.call(new ListRuns(state, Math.min(left, 100), token), CALLER);
                    page.workflows().forEach(run -> line(call, run));
                    left -= page.workflows().size();
                    token = page.nextPageToken();
                } while (!token.isEmpty() && left > 0);
                return 0;
            });
        }

        private static void definitions(CommandCall call, AgentClient one) {
            String token = null;
            do {
                DefinitionPage page = one.call(new ListDefinitions(100, token), CALLER);
                page.definitions().forEach(definition -> {
                    if (call.output().isJson()) {
                        call.output().print(new String(WorkflowProtocol.json(definition), UTF_8) + "\n");
                    } else {
                        call.output()
                                .line(definition.name() + "  definition  version " + definition.version() + "  "
                                        + definition.steps() + " steps");
                    }
                });
                token = page.nextPageToken();
            } while (!token.isEmpty());
        }

        private static void line(CommandCall call, RunView run) {
            if (call.output().isJson()) {
                call.output().print(new String(WorkflowProtocol.json(run), UTF_8) + "\n");
            } else {
                call.output()
                        .line(run.workflowId() + "  " + run.state().word() + "  " + run.progress() + " %  "
                                + run.steps().size() + " steps");
            }
        }
    }

    /** Draws a document or a run. */
    static final class Graph extends WorkflowCommand {
        private static final String OUTPUT = "--output";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(
                    0, true, "FILE|ID", "A document, in JSON or YAML; - for standard input; or the id of a run."));
            spec.addOption(OptionSpec.builder("-o", OUTPUT)
                    .type(String.class)
                    .arity("1")
                    .paramLabel("FORMAT")
                    .description("mermaid or dot; default: mermaid.")
                    .build());
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            String source = call.requiredArgument(0);
            String format = call.option(OUTPUT) == null ? "mermaid" : call.option(OUTPUT);
            if (!List.of("mermaid", "dot").contains(format)) {
                throw CommandException.usage("invalid -o: " + format + " (expected: mermaid or dot)", null);
            }
            if (source.equals("-") || Files.exists(call.path(source))) {
                return print(
                        call,
                        format,
                        WorkflowFile.read(call, source).checked().steps().values().stream()
                                .map(step -> node(step.id(), step.agent(), step.task(), step.depends(), null)));
            }
            return connect(
                    call,
                    one -> print(
                            call,
                            format,
                            one.call(new Get(source), CALLER).steps().stream()
                                    .map(step -> node(
                                            step.id(),
                                            step.agent(),
                                            step.task(),
                                            step.depends(),
                                            step.state().word()))));
        }

        private static WorkflowGraph.Node node(
                String id,
                @Nullable String agent,
                @Nullable String task,
                List<String> depends,
                @Nullable String state) {
            return new WorkflowGraph.Node(id, agent + ": " + task, depends, state);
        }

        private static int print(CommandCall call, @Nullable String format, Stream<WorkflowGraph.Node> drawn) {
            List<WorkflowGraph.Node> nodes = drawn.toList();
            call.output().print("dot".equals(format) ? WorkflowGraph.dot(nodes) : WorkflowGraph.mermaid(nodes));
            return 0;
        }
    }

    /** Checks a document. */
    static final class Check extends WorkflowCommand {
        private static final String BY_HUB = "--hub";

        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "FILE", FILE));
            spec.addOption(Parameters.flag(BY_HUB, "Let the hub of -a check it, too: its agents and their skills."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            WorkflowFile file = WorkflowFile.read(call, call.requiredArgument(0));
            Workflow workflow = file.checked();
            if (!call.has(BY_HUB)) {
                return show(call, workflow);
            }
            return connect(call, one -> {
                one.call(new WorkflowOperation.Check(file.document()), CALLER).problems().stream()
                        .findFirst()
                        .ifPresent(problem -> {
                            String place = problem.location().isEmpty() ? "" : problem.location() + ": ";
                            throw WorkflowFile.invalid(file.name(), place + problem.message());
                        });
                return show(call, workflow);
            });
        }

        private static int show(CommandCall call, Workflow workflow) {
            List<String> order = List.copyOf(workflow.steps().keySet());
            call.output()
                    .result(
                            () -> Json.write(Map.of("valid", true, "steps", order)),
                            page -> page.field("Valid", true)
                                    .field("Steps", order.size())
                                    .field("Order", String.join(", ", order)));
            return 0;
        }
    }
}
