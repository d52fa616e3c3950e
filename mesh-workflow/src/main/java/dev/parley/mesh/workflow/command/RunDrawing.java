package dev.parley.mesh.workflow.command;

import dev.parley.command.SafeText;
import dev.parley.mesh.workflow.WorkflowOperation.RunView;
import dev.parley.mesh.workflow.WorkflowOperation.StepState;
import dev.parley.mesh.workflow.WorkflowOperation.StepView;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A run as a drawing: at a terminal one that is drawn anew with each change, else a line for each change. */
final class RunDrawing {
    private static final Map<StepState, String> SIGNS = Map.of(
            StepState.WAITING,
            "·",
            StepState.RUNNING,
            "▶",
            StepState.INPUT_REQUIRED,
            "?",
            StepState.COMPLETED,
            "✓",
            StepState.FAILED,
            "✗",
            StepState.SKIPPED,
            "-",
            StepState.CANCELED,
            "■");

    private final PrintStream out;
    private final boolean terminal;
    private final Map<String, StepView> steps = new LinkedHashMap<>();
    private final Map<String, Integer> depths = new HashMap<>();
    private int lines;

    RunDrawing(PrintStream out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /** Shows a change; the first has all steps. */
    void draw(RunView change) {
        if (steps.isEmpty()) {
            change.steps()
                    .forEach(step -> depths.put(
                            step.id(),
                            step.depends().stream()
                                            .mapToInt(before -> depths.getOrDefault(before, 0))
                                            .max()
                                            .orElse(-1)
                                    + 1));
        }
        for (StepView step : change.steps()) {
            StepView known = steps.get(step.id());
            StepView now = known == null
                    ? step
                    : new StepView(
                            step.id(),
                            agent(step, known),
                            step.choice().get("task") instanceof String task ? task : known.task(),
                            known.depends(),
                            step.state(),
                            step.attempts(),
                            step.taskId(),
                            step.problem(),
                            step.choice().isEmpty() ? known.choice() : step.choice());
            steps.put(step.id(), now);
            if (!terminal) {
                out.println(line(now));
            }
        }
        if (terminal) {
            redraw(change);
        }
        out.flush();
    }

    private static @Nullable String agent(StepView step, StepView known) {
        return step.choice().get("agent") instanceof String agent ? agent : known.agent();
    }

    private void redraw(RunView change) {
        var text = new StringBuilder();
        if (lines > 0) {
            text.append("\u001b[").append(lines).append('A');
        }
        steps.values().forEach(step -> text.append(line(step)).append("\u001b[K\n"));
        text.append(change.state().word())
                .append("  ")
                .append(change.progress())
                .append(" %\u001b[K\n");
        lines = steps.size() + 1;
        out.print(text);
    }

    private String line(StepView step) {
        String after = step.depends().isEmpty() ? "" : "  ← " + String.join(", ", step.depends());
        return "  ".repeat(depths.getOrDefault(step.id(), 0))
                + SIGNS.getOrDefault(step.state(), "?")
                + " "
                + SafeText.oneLine(step.id() + "  " + step.state().word() + "  " + step.agent() + ": " + step.task()
                        + after + (step.problem() == null ? "" : "  (" + step.problem() + ")"));
    }
}
