package dev.parley.mesh.workflow;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Drawings of workflows and runs, as text for Mermaid or Graphviz. */
public final class WorkflowGraph {
    private WorkflowGraph() {}

    /**
     * A step.
     *
     * @param depends ids of the steps before it
     * @param state null for a workflow that does not run
     */
    public record Node(
            String id,
            String text,
            List<String> depends,
            @Nullable String state) {}

    /** A flowchart of Mermaid. */
    public static String mermaid(List<Node> nodes) {
        return "flowchart TD\n" + drawn(nodes, "[\"", "\"]\n", " --> ", "\n", "<br/>", WorkflowGraph::html);
    }

    /** A directed graph of Graphviz. */
    public static String dot(List<Node> nodes) {
        return "digraph workflow {\n  node [shape=box];\n"
                + drawn(nodes, " [label=\"", "\"];\n", " -> ", ";\n", "\\n", WorkflowGraph::quoted)
                + "}\n";
    }

    private static String drawn(
            List<Node> nodes,
            String open,
            String close,
            String arrow,
            String end,
            String lineBreak,
            Function<String, String> escaped) {
        // Names that both languages take, since ids may hold anything.
        Map<String, String> names = new LinkedHashMap<>();
        nodes.forEach(node -> names.put(node.id(), "s" + names.size()));
        var text = new StringBuilder();
        for (Node node : nodes) {
            text.append("  ")
                    .append(names.get(node.id()))
                    .append(open)
                    .append(escaped.apply(node.id()))
                    .append(lineBreak)
                    .append(escaped.apply(node.text()))
                    .append(node.state() == null ? "" : lineBreak + node.state())
                    .append(close);
        }
        for (Node node : nodes) {
            for (String before : node.depends()) {
                text.append("  ")
                        .append(names.get(before))
                        .append(arrow)
                        .append(names.get(node.id()))
                        .append(end);
            }
        }
        return text.toString();
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
