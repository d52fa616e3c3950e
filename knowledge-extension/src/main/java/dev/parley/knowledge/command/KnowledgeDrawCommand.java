package dev.parley.knowledge.command;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.Parameters;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley kg draw}: an entity and what stands around it, as a picture. */
final class KnowledgeDrawCommand extends KnowledgeCommand {
    private static final String OUTPUT = "--output";
    private static final List<String> FORMATS = List.of("svg", "png", "mermaid", "dot");
    private static final int MAX_NODES = 200;

    private static final String AROUND = "query($id: ID!, $most: Int) { entity(id: $id) {"
            + " statements(first: $most) { nodes { predicate object { id value } certainty } }"
            + " incoming(first: $most) { nodes { subject { id } predicate certainty } } } }";

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Parameters.argument(0, true, "ENTITY", "Its id, such as ex:p1."));
        spec.addOption(picocli.CommandLine.Model.OptionSpec.builder("-o", OUTPUT)
                .type(String.class)
                .arity("1")
                .paramLabel("FORMAT")
                .description("svg, png, mermaid or dot; default: by the ending of --file, else mermaid.")
                .build());
        spec.addOption(Parameters.option("--file", "FILE", "Output file; default: standard output."));
        spec.addOption(Parameters.option("--depth", "N", "Distance of neighbours in steps, 1 to 4; default: 1."));
        spec.addOption(Parameters.option("--most", "N", "Limit of statements for each entity; default: 20."));
    }

    @Override
    void run(CommandCall call, KnowledgeEndpoint graph) {
        String file = call.option("--file");
        String format = format(call.option(OUTPUT), file);
        Integer depth = call.number("--depth", 1, 4);
        Integer most = call.number("--most", 1, 100);
        GraphPicture picture =
                around(graph, call.requiredArgument(0), depth == null ? 1 : depth, most == null ? 20 : most);
        byte[] bytes = switch (format) {
            case "svg" -> text(picture.svg());
            case "png" -> picture.png();
            case "dot" -> text(picture.dot());
            default -> text(picture.mermaid());
        };
        try {
            if (file == null) {
                call.out().write(bytes);
                call.out().flush();
            } else {
                Files.write(call.path(file), bytes);
                call.output().note("Saved: " + file);
            }
        } catch (IOException unwritable) {
            throw CommandException.usage("cannot write " + file + ": " + unwritable.getMessage(), null);
        }
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String format(@Nullable String typed, @Nullable String file) {
        String name = typed != null
                ? typed
                : file == null
                        ? "mermaid"
                        : file.substring(file.lastIndexOf('.') + 1).replace("mmd", "mermaid");
        if (!FORMATS.contains(name)) {
            throw CommandException.usage(
                    "invalid -o: " + name + " (expected: one of " + String.join(", ", FORMATS) + ")", null);
        }
        return name;
    }

    /** Walks outwards, so that near entities are drawn if there are too many. */
    private static GraphPicture around(KnowledgeEndpoint graph, String id, int depth, int most) {
        var picture = new GraphPicture(id);
        Map<String, Integer> steps = new LinkedHashMap<>();
        steps.put(id, 0);
        var waiting = new ArrayDeque<>(List.of(id));
        while (!waiting.isEmpty() && picture.size() < MAX_NODES) {
            String from = waiting.poll();
            int step = steps.getOrDefault(from, 0);
            for (String next : add(picture, graph, from, most)) {
                if (step + 1 < depth && steps.putIfAbsent(next, step + 1) == null) {
                    waiting.add(next);
                }
            }
        }
        return picture;
    }

    /** Adds the statements of one entity, and returns the entities that they name. */
    private static List<String> add(GraphPicture picture, KnowledgeEndpoint graph, String id, int most) {
        Object entity = ask(graph, AROUND, Map.of("id", id, "most", most)).get("entity");
        var touched = new java.util.ArrayList<String>();
        if (!(entity instanceof Map<?, ?> known)) {
            return touched;
        }
        for (Map<?, ?> said : nodes(known.get("statements"))) {
            Map<?, ?> object = (Map<?, ?>) said.get("object");
            Object other = object == null ? null : object.get("id");
            if (other != null) {
                picture.edge(id, String.valueOf(other), label(said));
                touched.add(String.valueOf(other));
            } else if (object != null) {
                picture.value(id, String.valueOf(object.get("value")), label(said));
            }
        }
        for (Map<?, ?> said : nodes(known.get("incoming"))) {
            if (said.get("subject") instanceof Map<?, ?> subject) {
                String other = String.valueOf(subject.get("id"));
                picture.edge(other, id, label(said));
                touched.add(other);
            }
        }
        return touched;
    }

    private static String label(Map<?, ?> said) {
        String predicate = GraphPicture.shortened(String.valueOf(said.get("predicate")));
        return said.get("certainty") == null ? predicate : predicate + " (" + said.get("certainty") + ")";
    }
}
