package dev.parley.bench;

import dev.parley.dialect.Json;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Writes requests to a registry, one JSON-RPC request a line: {@code register.jsonl} registers agents with cards of usual size, {@code
 * lookup.jsonl} shows some of them by their ids, {@code search.jsonl} searches by two or three words, {@code measured.jsonl} as people search
 * agents of {@link MeasuredCards}.
 *
 * <p>Arguments: the directory, the number of agents.
 */
public final class RegistryBodies {
    private static final int LOOKUPS = 5_000;
    private static final int SEARCHES = 2_000;
    private static final List<String> VERBS = List.of(
            "translates",
            "summarises",
            "classifies",
            "extracts",
            "compares",
            "forecasts",
            "audits",
            "drafts",
            "routes",
            "converts",
            "validates",
            "schedules",
            "monitors",
            "prices",
            "reconciles",
            "anonymises");
    private static final List<String> THINGS = List.of(
            "contracts",
            "invoices",
            "weather",
            "flights",
            "patents",
            "receipts",
            "tickets",
            "meetings",
            "tables",
            "maps",
            "recipes",
            "genomes",
            "payrolls",
            "shipments",
            "claims",
            "lectures",
            "photos",
            "logs",
            "diagnoses",
            "permits");
    private static final List<String> FIELDS = List.of(
            "legal",
            "medical",
            "financial",
            "industrial",
            "academic",
            "municipal",
            "agricultural",
            "maritime",
            "retail",
            "energy",
            "insurance",
            "aviation",
            "pharmaceutical",
            "chemical",
            "culinary",
            "athletic");

    private RegistryBodies() {}

    public static void main(String[] arguments) throws IOException {
        Path directory = Files.createDirectories(Path.of(arguments[0]));
        int agents = Integer.parseInt(arguments[1]);
        var random = new Random(16);
        try (BufferedWriter out = Files.newBufferedWriter(directory.resolve("register.jsonl"))) {
            for (int i = 0; i < agents; i++) {
                write(out, i, "registry/register", Map.of("visibility", "public", "card", card(i, random)));
            }
        }
        try (BufferedWriter out = Files.newBufferedWriter(directory.resolve("lookup.jsonl"))) {
            for (int i = 0; i < Math.min(LOOKUPS, agents); i++) {
                String id = "urn:air:agent.localhost:default:" + name(random.nextInt(agents));
                write(out, i, "registry/show", Map.of("id", id));
            }
        }
        try (BufferedWriter out = Files.newBufferedWriter(directory.resolve("search.jsonl"))) {
            for (int i = 0; i < SEARCHES; i++) {
                String words =
                        any(FIELDS, random) + " " + any(THINGS, random) + (i % 2 == 0 ? "" : " " + any(VERBS, random));
                write(out, i, "registry/list", Map.of("q", words, "pageSize", 10));
            }
        }
        writeMeasured(directory.resolve("measured.jsonl"));
    }

    private static void writeMeasured(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (int i = 0; i < SEARCHES; i++) {
                write(out, i, "registry/list", Map.of("q", MeasuredCards.query(i), "pageSize", 10));
            }
        }
    }

    private static void write(BufferedWriter out, int id, String method, Map<String, Object> params)
            throws IOException {
        out.write(new String(
                Json.write(Map.of("jsonrpc", "2.0", "id", id, "method", method, "params", params)),
                StandardCharsets.UTF_8));
        out.newLine();
    }

    private static String name(int number) {
        return "agent-" + number;
    }

    private static Map<String, Object> card(int number, Random random) {
        var skills = new ArrayList<Map<String, Object>>();
        for (int i = 0; i < 3; i++) {
            String verb = any(VERBS, random);
            String thing = any(THINGS, random);
            String field = any(FIELDS, random);
            skills.add(Map.of(
                    "id", verb + "-" + thing,
                    "name", field + " " + thing,
                    "description", "Reads " + field + " " + thing + ", " + verb + " them, and explains the result",
                    "tags", List.of(field, thing),
                    "examples", List.of("Which " + thing + " are due?", "Show the " + field + " ones of last week")));
        }
        String url = "https://agents.example.com/" + name(number);
        return Map.of(
                "name", name(number),
                "description",
                        "An agent of the " + any(FIELDS, random) + " department that " + any(VERBS, random) + " "
                                + any(THINGS, random),
                "version", "1." + number % 10 + ".0",
                "provider", Map.of("organization", "Company " + number % 100, "url", "https://agents.example.com"),
                "supportedInterfaces",
                        List.of(Map.of("url", url, "protocolBinding", "JSONRPC", "protocolVersion", "1.0")),
                "capabilities", Map.of("streaming", true),
                "defaultInputModes", List.of("text/plain"),
                "defaultOutputModes", List.of("text/plain"),
                "skills", skills);
    }

    private static String any(List<String> words, Random random) {
        return words.get(random.nextInt(words.size()));
    }
}
