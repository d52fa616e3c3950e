package dev.parley.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes the tables of {@code docs/performance.md}, and {@code docs/performance.json} with their figures, out of the documents
 * that the runs left. A figure is the median of its runs; figures that were not run again stay as they were.
 *
 * <p>Arguments: the directory with the runs, each named {@code <figure>.<run>.json}; {@code docs}; and what stands for
 * the machine, the commit and the time, as {@code name=value}.
 */
public final class Figures {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    private static final String BEGIN = "<!-- Written by bench/measure: from here -->";
    private static final String END = "<!-- to here -->";

    private final Map<String, List<JsonNode>> runs = new LinkedHashMap<>();
    private final Map<String, Double> medians = new LinkedHashMap<>();
    private final ObjectNode known;

    private Figures(ObjectNode known) {
        this.known = known;
    }

    public static void main(String[] arguments) throws IOException {
        Path docs = Path.of(arguments[1]);
        Path json = docs.resolve("performance.json");
        ObjectNode document = Files.exists(json) ? (ObjectNode) JSON.readTree(json) : JSON.createObjectNode();
        ObjectNode circumstances = JSON.createObjectNode();
        for (int i = 2; i < arguments.length; i++) {
            int equals = arguments[i].indexOf('=');
            circumstances.put(arguments[i].substring(0, equals), arguments[i].substring(equals + 1));
        }
        ObjectNode known = document.withObject("/figures");
        var figures = new Figures(known);
        figures.read(Path.of(arguments[0]));
        ArrayNode table = figures.table(circumstances);
        document.set("table", table);
        Path text = docs.resolve("performance.md");
        String page = replaced(Files.readString(text), markdown(table, known));
        Files.writeString(json, JSON.writeValueAsString(document) + "\n");
        Files.writeString(text, page);
    }

    private void read(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".json"))
                    .sorted()
                    .toList()) {
                String id = file.getFileName().toString().replaceAll("\\..*", "");
                runs.computeIfAbsent(id, unused -> new ArrayList<>()).add(JSON.readTree(file));
            }
        }
    }

    private ArrayNode table(ObjectNode circumstances) {
        runs.forEach((id, documents) -> {
            ObjectNode entry = known.putObject(id);
            entry.set("circumstances", circumstances);
            entry.putArray("runs").addAll(documents);
        });
        ArrayNode table = JSON.createArrayNode();
        for (Figure figure : Figure.ALL) {
            Double value = value(figure);
            if (value != null) {
                medians.putIfAbsent(figure.id(), value);
                medians.put(figure.id() + ":" + figure.pointer().replaceAll(".*/", ""), value);
                ObjectNode row = table.addObject();
                row.put("id", figure.id());
                row.put("title", figure.title());
                row.put("value", value);
                row.put("unit", figure.unit());
                Figure.Goal goal = figure.goal();
                if (goal != null) {
                    row.put("goal", goal.toString());
                    row.put("met", goal.isMetBy(value));
                }
            }
        }
        return table;
    }

    private @Nullable Double value(Figure figure) {
        if (figure.isShare()) {
            Double of = medians.get(figure.dividend());
            Double base = medians.get(figure.pointer());
            return of == null || base == null ? null : of / base;
        }
        var values = new ArrayList<Double>();
        for (JsonNode run : known.path(figure.id()).path("runs")) {
            JsonNode value = run.at(figure.pointer());
            if (value.isNumber()) {
                values.add(value.asDouble() / figure.scale());
            }
        }
        if (values.isEmpty()) {
            return null;
        }
        values.sort(null);
        return values.get(values.size() / 2);
    }

    private static String markdown(ArrayNode table, ObjectNode known) {
        var text = new StringBuilder("| figure | what | measured | goal | | runs: load average, others' processor |\n");
        text.append("|---|---|---|---|---|---|\n");
        for (JsonNode row : table) {
            String unit = row.path("unit").asString();
            text.append("| ").append(row.path("id").asString());
            text.append(" | ").append(row.path("title").asString());
            text.append(" | ").append(Figure.number(row.path("value").asDouble()));
            text.append(unit.contains("÷") ? "" : " " + unit);
            text.append(" | ").append(row.path("goal").asString(""));
            text.append(" | ").append(row.has("met") ? row.path("met").asBoolean() ? "met" : "**not met**" : "");
            text.append(" | ").append(disturbance(known.path(row.path("id").asString())));
            text.append(" |\n");
        }
        return text.toString();
    }

    /** Returns the other load of the machine during the runs, as text. */
    private static String disturbance(JsonNode entry) {
        var parts = new ArrayList<String>();
        for (JsonNode run : entry.path("runs")) {
            JsonNode load = run.at("/environment/loadAverage");
            JsonNode others = run.at("/result/otherProcessorPercent");
            if (load.isNumber()) {
                parts.add(Figure.number(load.asDouble())
                        + (others.isNumber() ? ", " + Figure.number(others.asDouble()) + " %" : ""));
            }
        }
        return String.join(" · ", parts);
    }

    /** The first cells of the rows of a table. */
    private static List<String> ids(String table) {
        return table.lines()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| figure "))
                .map(line -> line.substring(2, line.indexOf(" |", 2)))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private static String replaced(String text, String table) {
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalStateException("performance.md: no place for the table (expected: " + BEGIN + ")");
        }
        List<String> lost = ids(text.substring(begin, end));
        lost.removeAll(ids(table));
        if (!lost.isEmpty()) {
            throw new IllegalStateException(
                    "performance.md: " + lost + " would be lost (expected: their runs in performance.json)");
        }
        return text.substring(0, begin + BEGIN.length()) + "\n\n" + table + "\n" + text.substring(end);
    }
}
