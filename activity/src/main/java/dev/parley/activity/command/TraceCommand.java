package dev.parley.activity.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.activity.ActivityOperation.Reach;
import dev.parley.activity.ActivityOperation.ReadTrace;
import dev.parley.activity.ActivityOperation.Span;
import dev.parley.activity.ActivityOperation.Trace;
import dev.parley.activity.ActivityProtocol;
import dev.parley.command.CommandCall;
import dev.parley.command.Parameters;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley trace}. */
final class TraceCommand extends HubCommand {
    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Parameters.argument(0, true, "ID", "The trace, or a task of it."));
        spec.addOption(Parameters.option("--group", "GROUP", "Group of the tasks, or * for all; for operators."));
    }

    @Override
    public int run(CommandCall call) throws InterruptedException {
        var read = new ReadTrace(call.requiredArgument(0), new Reach(call.option("--group"), null));
        return connect(call, hub -> {
            Trace trace = read(hub, read, "Trace not found: " + read.trace());
            if (call.output().isJson()) {
                call.output().print(new String(ActivityProtocol.json(trace), UTF_8) + "\n");
                return 0;
            }
            var shown = new HashSet<String>();
            show(call, trace, null, shown, 0);
            // Agents can note each other's tasks as steps: a circle has no root.
            for (Span span : trace.spans()) {
                if (shown.add(span.id())) {
                    line(call, span, 0);
                }
            }
            if (trace.hasMore()) {
                call.output().line("Spans beyond the first " + trace.spans().size() + " are left out");
            }
            return 0;
        });
    }

    private static void show(CommandCall call, Trace trace, @Nullable String parent, Set<String> shown, int depth) {
        for (Span span : trace.spans()) {
            boolean isChild = parent == null ? span.parent() == null : parent.equals(span.parent());
            if (isChild && shown.add(span.id())) {
                line(call, span, depth);
                show(call, trace, span.id(), shown, depth + 1);
            }
        }
    }

    private static void line(CommandCall call, Span span, int depth) {
        String took = span.ended() == null
                ? "since " + span.started()
                : Duration.between(span.started(), span.ended()).toMillis() + " ms";
        String text = span.error() == null ? span.name() : span.name() + "  " + span.error();
        call.output()
                .line("  ".repeat(Math.min(depth, 20)) + span.agent() + "  " + TasksCommand.word(span.state()) + "  "
                        + took + "  " + span.id() + "  " + text);
    }
}
