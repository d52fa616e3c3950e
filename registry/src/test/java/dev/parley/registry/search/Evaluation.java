package dev.parley.registry.search;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Embedder;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.Entries;
import dev.parley.store.database.Database;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Measures how well the search ranks, by judged queries: {@code evaluation-cards.txt} and {@code evaluation-queries.txt}. */
final class Evaluation implements AutoCloseable {
    private static final CallContext CALLER = CallContext.of("judge", new CallContext.Scope("judges", "judge"));
    private static final int RESAMPLES = 2_000;

    /**
     * A judged query.
     *
     * @param grades of the agents that meet it, by the names of the agents; none if no agent does
     */
    record Judged(String kind, String text, Map<String, Integer> grades, boolean isHeldOut) {}

    /** Figures of a query. */
    record Figures(Judged query, List<String> found, double millis) {
        double ndcg() {
            double gain = 0;
            for (int i = 0; i < Math.min(5, found.size()); i++) {
                gain += gain(query.grades.getOrDefault(found.get(i), 0), i);
            }
            List<Integer> best = query.grades.values().stream()
                    .sorted((one, other) -> other - one)
                    .toList();
            double ideal = 0;
            for (int i = 0; i < Math.min(5, best.size()); i++) {
                ideal += gain(best.get(i), i);
            }
            return gain / ideal;
        }

        private static double gain(int grade, int rank) {
            return (Math.pow(2, grade) - 1) / (Math.log(rank + 2) / Math.log(2));
        }

        double recall() {
            return found.stream().limit(5).filter(query.grades::containsKey).count()
                    / (double) Math.min(5, query.grades.size());
        }

        double reciprocalRank() {
            for (int i = 0; i < Math.min(10, found.size()); i++) {
                if (query.grades.containsKey(found.get(i))) {
                    return 1.0 / (i + 1);
                }
            }
            return 0;
        }
    }

    private final Entries entries;
    private final Search search;
    private final Map<String, String> keys = new HashMap<>();

    Evaluation(Database database) throws IOException, InterruptedException {
        entries = Entries.open(
                database,
                "agent.localhost",
                List.of(),
                (caller, agent) -> true,
                new NoParts(),
                new NoParts(),
                InstantSource.system());
        search = new Search(
                database,
                entries,
                ServiceLoader.load(Embedder.class).findFirst().orElse(null));
        for (String[] card : lines("evaluation-cards.txt")) {
            keys.put(publish(card), card[0]);
        }
        search.awaitVectors(Duration.ofMinutes(5));
    }

    private String publish(String[] card) {
        String skills = Stream.of(card[3].split(" \\|\\| "))
                .map(skill -> skill.split(" :: "))
                .map(skill -> "{\"id\":\"%s\",\"name\":\"%s\",\"description\":\"%s\",\"tags\":[%s],\"examples\":[%s]}"
                        .formatted(
                                skill[0].toLowerCase(Locale.ROOT).replace(' ', '-'),
                                skill[0],
                                skill[1],
                                quoted(skill[2], ", "),
                                quoted(skill[3], "; ")))
                .collect(Collectors.joining(","));
        String json = """
                {"name":"%s","description":"%s","version":"1.0.0","capabilities":{},"defaultInputModes":["text/plain"],
                 "defaultOutputModes":["text/plain"],"skills":[%s],
                 "supportedInterfaces":[{"url":"https://a.example/%s","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}""".formatted(card[1], card[2], skills, card[0]);
        return entries.publisher()
                .publish(
                        new Publication(
                                null,
                                Entry.AGENT_CARD,
                                json.getBytes(StandardCharsets.UTF_8),
                                null,
                                null,
                                Visibility.PUBLIC,
                                null,
                                List.of(),
                                Map.of()),
                        CALLER)
                .id();
    }

    private static String quoted(String list, String separator) {
        return Stream.of(list.split(separator)).map(each -> "\"" + each + "\"").collect(Collectors.joining(","));
    }

    private static List<String[]> lines(String name) throws IOException {
        try (InputStream in = Evaluation.class.getResourceAsStream(name)) {
            return new String(requireNonNull(in, name).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" \\| ", 4))
                    .toList();
        }
    }

    static List<Judged> queries() throws IOException {
        var perKind = new HashMap<String, Integer>();
        var queries = new ArrayList<Judged>();
        for (String[] line : lines("evaluation-queries.txt")) {
            var grades = new LinkedHashMap<String, Integer>();
            if (!line[2].equals("-")) {
                String[] ranks = line[2].split(", ", -1);
                for (int i = 0; i < ranks.length; i++) {
                    for (String key : ranks[i].split("\\+", -1)) {
                        grades.put(key, Math.max(1, 3 - i));
                    }
                }
            }
            boolean isHeldOut = perKind.merge(line[0], 1, Integer::sum) % 2 == 0;
            queries.add(new Judged(line[0], line[1], grades, isHeldOut));
        }
        return queries;
    }

    Figures figures(Judged query) {
        long begin = System.nanoTime();
        List<String> found = search.search(SearchQuery.of(query.text()), 10, null, CALLER).results().stream()
                .map(result -> requireNonNull(keys.get(result.agent().id())))
                .toList();
        return new Figures(query, found, (System.nanoTime() - begin) / 1e6);
    }

    /** A mean with its interval of 95 %, by resampling. */
    static String mean(List<Figures> all, ToDoubleFunction<Figures> figure) {
        double[] values = all.stream().mapToDouble(figure).toArray();
        var random = new Random(7);
        double[] means = new double[RESAMPLES];
        for (int i = 0; i < RESAMPLES; i++) {
            double sum = 0;
            for (int j = 0; j < values.length; j++) {
                sum += values[random.nextInt(values.length)];
            }
            means[i] = sum / values.length;
        }
        Arrays.sort(means);
        return String.format(
                Locale.ROOT,
                "%.3f (%.3f–%.3f)",
                Arrays.stream(values).average().orElse(0),
                means[RESAMPLES / 40],
                means[RESAMPLES - RESAMPLES / 40]);
    }

    /** A line of the table in {@code docs/search.md}. */
    static String row(String name, List<Figures> all) {
        List<Figures> met =
                all.stream().filter(each -> !each.query().grades().isEmpty()).toList();
        List<Figures> unmet =
                all.stream().filter(each -> each.query().grades().isEmpty()).toList();
        return "| " + name + " | " + all.size() + " | " + mean(met, Figures::ndcg) + " | " + mean(met, Figures::recall)
                + " | "
                + mean(met, Figures::reciprocalRank) + " | "
                + (unmet.isEmpty() ? "" : mean(unmet, each -> each.found().isEmpty() ? 0 : 1)) + " |";
    }

    /** Prints the table, and with an argument the queries that are not met. */
    String table(boolean isHeldOut, boolean hasMisses) throws IOException {
        for (Judged query : queries()) {
            var warm = figures(query);
            requireNonNull(warm);
        }
        List<Figures> all = queries().stream()
                .filter(query -> query.isHeldOut() == isHeldOut)
                .map(this::figures)
                .toList();
        var out = new StringBuilder(
                "| queries | number | nDCG@5 | R@5 | MRR@10 | false hits |\n|---|---|---|---|---|---|\n");
        Map<String, List<Figures>> kinds = all.stream()
                .collect(Collectors.groupingBy(each -> each.query().kind(), LinkedHashMap::new, Collectors.toList()));
        kinds.forEach((kind, of) -> out.append(row(kind, of)).append('\n'));
        out.append(row("all", all)).append('\n');
        double[] millis = all.stream().mapToDouble(Figures::millis).sorted().toArray();
        out.append(String.format(
                Locale.ROOT,
                "p50 %.2f ms, p95 %.2f ms%n",
                millis[millis.length / 2],
                millis[millis.length * 95 / 100]));
        if (hasMisses) {
            all.stream()
                    .filter(each ->
                            each.query().grades().isEmpty() ? !each.found().isEmpty() : each.ndcg() < 0.99)
                    .forEach(each -> out.append(each.query().kind() + ": "
                            + each.query().text() + "\n    expected "
                            + each.query().grades() + "\n    found "
                            + each.found().subList(0, Math.min(5, each.found().size())) + "\n"));
        }
        return out.toString();
    }

    @Override
    public void close() {
        search.close();
    }
}
