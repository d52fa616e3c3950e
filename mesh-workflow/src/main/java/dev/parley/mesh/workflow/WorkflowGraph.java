package dev.parley.mesh.workflow;

import dev.parley.mesh.workflow.Workflow.Step;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Drawings of workflows, as text for Mermaid or Graphviz. */
public final class WorkflowGraph {
    private WorkflowGraph() {}

    /**
     * A flowchart of Mermaid.
     *
     * @param run whose states are shown; null for a workflow that does not run
     */
    public static String mermaid(Workflow workflow, @Nullable WorkflowRun run) {
        Map<String, String> names = names(workflow);
        var text = new StringBuilder("flowchart TD\n");
        workflow.steps()
                .values()
                .forEach(step -> text.append("  ")
                        .append(names.get(step.id()))
                        .append("[\"")
                        .append(label(step, run, "<br/>", WorkflowGraph::html))
                        .append("\"]\n"));
        workflow.steps()
                .values()
                .forEach(step -> step.depends()
                        .forEach(before -> text.append("  ")
                                .append(names.get(before))
                                .append(" --> ")
                                .append(names.get(step.id()))
                                .append('\n')));
        return text.toString();
    }

    /**
     * A directed graph of Graphviz.
     *
     * @param run whose states are shown; null for a workflow that does not run
     */
    public static String dot(Workflow workflow, @Nullable WorkflowRun run) {
        Map<String, String> names = names(workflow);
        var text = new StringBuilder("digraph workflow {\n  node [shape=box];\n");
        workflow.steps()
                .values()
                .forEach(step -> text.append("  ")
                        .append(names.get(step.id()))
                        .append(" [label=\"")
                        .append(label(step, run, "\\n", WorkflowGraph::quoted))
                        .append("\"];\n"));
        workflow.steps()
                .values()
                .forEach(step -> step.depends()
                        .forEach(before -> text.append("  ")
                                .append(names.get(before))
                                .append(" -> ")
                                .append(names.get(step.id()))
                                .append(";\n")));
        return text.append("}\n").toString();
    }

    /** Names that both languages take, since ids may hold anything. */
    private static Map<String, String> names(Workflow workflow) {
        var names = new LinkedHashMap<String, String>();
        workflow.steps().keySet().forEach(id -> names.put(id, "s" + names.size()));
        return names;
    }

    private static String label(
            Step step, @Nullable WorkflowRun run, String lineBreak, Function<String, String> escaped) {
        String label = escaped.apply(step.id()) + lineBreak + escaped.apply(step.agent() + ": " + step.task());
        return run == null ? label : label + lineBreak + run.state(step.id()).word();
    }

    private static String html(String text) {
        return text.codePoints()
                .mapToObj(c -> Character.isLetterOrDigit(c) || " .:_-/".indexOf(c) >= 0
                        ? Character.toString(c)
                        : "#" + c + ";")
                .collect(Collectors.joining());
    }

    private static String quoted(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ");
    }
}
