package dev.parley.mesh.workflow.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.AgentClient;
import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandOutput.Fields;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import dev.parley.mesh.workflow.Workflow;
import dev.parley.mesh.workflow.WorkflowGraph;
import dev.parley.mesh.workflow.WorkflowOperation.Cancel;
import dev.parley.mesh.workflow.WorkflowOperation.Get;
import dev.parley.mesh.workflow.WorkflowOperation.ListRuns;
import dev.parley.mesh.workflow.WorkflowOperation.Run;
import dev.parley.mesh.workflow.WorkflowOperation.RunPage;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import dev.parley.mesh.workflow.WorkflowOperation.Watch;
import dev.parley.mesh.workflow.WorkflowProtocol;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code parley workflow …}: the runs of a hub, whose address or whose agent {@code one} is that of {@code --agent-card}. */
abstract class WorkflowCommand implements ProgramCommand {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final List<String> OVER = List.of("completed", "failed", "canceled", "rejected", "input-required");
    private static final Pattern HUB = Pattern.compile("https?://[^/?#]+/?");
    private static final String FILE = "The document, in JSON or YAML; - for standard input.";
    private static final String RUN = "Id of the run, as \"parley workflow run\" shows it.";

    @Override
    public List<String> settings() {
        return List.of("--timeout");
    }

    /** Connects to the agent {@code one} of a hub, if the setting is the address of a hub, else to the agent of the setting. */
    private static int connect(CommandCall call, CommandCall.Work work) throws InterruptedException {
        String agent = call.setting("--agent-card");
        return agent != null && HUB.matcher(agent).matches()
                ? call.connect(agent + (agent.endsWith("/") ? "one" : "/one"), work)
                : call.connect(work);
    }

    private static int show(CommandCall call, RunView run) {
        call.output().result(() -> WorkflowProtocol.json(run), page -> page(page, run));
        return 0;
    }

    private static void page(Fields page, RunView run) {
        page.field("Workflow-ID", run.workflowId())
                .field("State", run.state())
                .field("Progress", run.progress() + " %")
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

    private static String text(StepView step) {
        return step.state()
                + (step.agent() == null ? "" : "  " + step.agent() + ": " + step.task())
                + (step.depends().isEmpty() ? "" : "  after " + String.join(", ", step.depends()))
                + (step.attempts() > 1 ? "  attempt " + step.attempts() : "")
                + (step.problem() == null ? "" : "  (" + step.problem() + ")");
    }

    /** Draws the changes of a run on standard error, and shows the run at its end. */
    private static int follow(CommandCall call, AgentClient one, String id) throws InterruptedException {
        var drawing = new RunDrawing(call.err(), call.isTerminal());
        String state = "";
        try (Feed<RunView> changes = one.watch(new Watch(id, null), CALLER)) {
            while (!OVER.contains(state)) {
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
        return show(call, one.call(new Get(id), CALLER));
    }

    /** Starts a run. */
    static final class Start extends WorkflowCommand {
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "FILE", FILE));
            spec.addOption(Parameters.flag("--watch", "Follow the run to its end, as \"parley workflow watch\" does."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            WorkflowFile file = WorkflowFile.read(call, call.requiredArgument(0));
            Workflow checked = file.checked();
            return connect(call, one -> {
                RunView run = one.call(new Run(file.document()), CALLER);
                if (call.has("--watch")) {
                    return follow(call, one, run.workflowId());
                }
                call.output()
                        .note(checked.steps().size() + " steps; follow them: parley workflow watch "
                                + run.workflowId());
                return show(call, run);
            });
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
    static final class Follow extends OfRun {
        @Override
        int run(CommandCall call, AgentClient one, String id) throws InterruptedException {
            return follow(call, one, id);
        }
    }

    /** Shows a run. */
    static final class Show extends OfRun {
        @Override
        int run(CommandCall call, AgentClient one, String id) {
            return show(call, one.call(new Get(id), CALLER));
        }
    }

    /** Cancels a run. */
    static final class Stop extends OfRun {
        @Override
        int run(CommandCall call, AgentClient one, String id) {
            return show(call, one.call(new Cancel(id), CALLER));
        }
    }

    /** Lists runs. */
    static final class ListAll extends WorkflowCommand {
        private static final int MOST = 10_000;

        @Override
        public void describe(CommandSpec spec) {
            spec.addOption(Parameters.option(
                    "--state",
                    "STATE",
                    "Only runs in this state: submitted, working, input-required, completed, failed, canceled."));
            spec.addOption(Parameters.option("--most", "N", "Limit of runs; default: 50."));
        }

        @Override
        public int run(CommandCall call) throws InterruptedException {
            Integer most = call.number("--most", 1, MOST);
            return connect(call, one -> {
                int left = most == null ? 50 : most;
                String token = null;
                do {
                    RunPage page = one.call(new ListRuns(call.option("--state"), Math.min(left, 100), token), CALLER);
                    page.workflows().forEach(run -> line(call, run));
                    left -= page.workflows().size();
                    token = page.nextPageToken();
                } while (!token.isEmpty() && left > 0);
                return 0;
            });
        }

        private static void line(CommandCall call, RunView run) {
            if (call.output().isJson()) {
                call.output().print(new String(WorkflowProtocol.json(run), UTF_8) + "\n");
            } else {
                call.output()
                        .line(run.workflowId() + "  " + run.state() + "  " + run.progress() + " %  "
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
                                    .map(step ->
                                            node(step.id(), step.agent(), step.task(), step.depends(), step.state()))));
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
        @Override
        public void describe(CommandSpec spec) {
            spec.addPositional(Parameters.argument(0, true, "FILE", FILE));
        }

        @Override
        public int run(CommandCall call) {
            Workflow workflow =
                    WorkflowFile.read(call, call.requiredArgument(0)).checked();
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
