package dev.parley.bench;

import dev.parley.dialect.Json;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.registry.Embedder;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.SearchOperation.FoundEntry;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.search.Search;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryPublisher;
import dev.parley.store.database.Database;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Finds the MCP servers of the public tasks of LiveMCPBench: each server is an entry, each of its tools a skill, and the text of a task is
 * the query. With a model of meanings on the class path its results are fused.
 *
 * <p>Arguments: {@code tools/LiveMCPTool/tools.json} and {@code annotated_data/all_annotations.json} of that project.
 */
public final class ToolSearch {
    private static final CallContext CALLER = CallContext.of("bench", new Scope("default", "bench"));

    private ToolSearch() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        var mapper = JsonMapper.builder().build();
        JsonNode servers = mapper.readTree(Files.readAllBytes(Path.of(arguments[0])));
        JsonNode tasks = mapper.readTree(Files.readAllBytes(Path.of(arguments[1])));
        Embedder embedder = ServiceLoader.load(Embedder.class).findFirst().orElse(null);
        Path directory = Files.createTempDirectory("tool-search");
        try (Database database = Database.open(directory)) {
            Entries entries = Entries.open(
                    database,
                    "agent.localhost",
                    List.of(),
                    (caller, agent) -> true,
                    new NoParts(),
                    new NoParts(),
                    InstantSource.system());
            try (var search = new Search(database, entries, embedder)) {
                Map<String, Set<String>> byTool = publish(entries.publisher(), servers);
                if (embedder != null) {
                    search.awaitVectors(Duration.ofMinutes(5));
                }
                measure(search, tasks, byTool, embedder == null ? "BM25" : "fused");
            }
        }
    }

    private static Map<String, Set<String>> publish(EntryPublisher publisher, JsonNode servers) {
        var byTool = new HashMap<String, Set<String>>();
        int number = 0;
        for (JsonNode server : servers) {
            String id = "urn:air:agent.localhost:default:server-" + number++;
            var skills = new ArrayList<Map<String, Object>>();
            for (JsonNode group : server.path("tools")) {
                for (JsonNode tool : group.path("tools")) {
                    String name = tool.path("name").asString();
                    byTool.computeIfAbsent(name, first -> new HashSet<>()).add(id);
                    skills.add(Map.of(
                            "id",
                            name,
                            "name",
                            name,
                            "description",
                            tool.path("description").asString(""),
                            "tags",
                            List.of()));
                }
            }
            byte[] card = Json.write(Map.of(
                    "name", server.path("name").asString(),
                    "description", server.path("description").asString(""),
                    "version", "1.0.0",
                    "supportedInterfaces",
                            List.of(Map.of(
                                    "url", "https://tools.example/" + number,
                                    "protocolBinding", "JSONRPC",
                                    "protocolVersion", "1.0")),
                    "capabilities", Map.of(),
                    "defaultInputModes", List.of("text/plain"),
                    "defaultOutputModes", List.of("text/plain"),
                    "skills", skills));
            publisher.publish(
                    new Publication(
                            id, Entry.AGENT_CARD, card, null, null, Visibility.PUBLIC, null, List.of(), Map.of()),
                    CALLER);
        }
        return byTool;
    }

    private static void measure(Search search, JsonNode tasks, Map<String, Set<String>> byTool, String name) {
        int measured = 0;
        double recall = 0;
        double ndcg = 0;
        double reciprocal = 0;
        for (JsonNode task : tasks) {
            var relevant = new HashSet<String>();
            for (String line :
                    task.path("Annotator Metadata").path("Tools").asString("").split("\n", -1)) {
                Set<String> having = byTool.getOrDefault(
                        line.replaceFirst("^\\s*\\d+\\.\\s*", "").strip(), Set.of());
                if (having.size() == 1) {
                    relevant.addAll(having);
                }
            }
            if (relevant.isEmpty()) {
                continue;
            }
            measured++;
            String text = task.path("Question").asString();
            String query = text.substring(0, Math.min(text.length(), SearchQuery.MAX_TEXT));
            List<FoundEntry> found =
                    search.search(SearchQuery.of(query), 10, null, CALLER).results();
            double gain = 0;
            double ideal = 0;
            int hits = 0;
            double first = 0;
            for (int i = 0; i < 10; i++) {
                boolean isHit = i < found.size()
                        && relevant.contains(found.get(i).agent().id());
                double discount = 1 / (Math.log(i + 2) / Math.log(2));
                if (i < 5) {
                    gain += isHit ? discount : 0;
                    ideal += i < relevant.size() ? discount : 0;
                    hits += isHit ? 1 : 0;
                }
                first = isHit && first == 0 ? 1.0 / (i + 1) : first;
            }
            recall += hits / (double) Math.min(5, relevant.size());
            ndcg += gain / ideal;
            reciprocal += first;
        }
        System.out.printf(
                "%s: %d tasks, nDCG@5 %.3f, R@5 %.3f, MRR@10 %.3f%n",
                name, measured, ndcg / measured, recall / measured, reciprocal / measured);
    }
}
