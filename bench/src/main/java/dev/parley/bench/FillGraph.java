package dev.parley.bench;

import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.CallContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Fills the knowledge graph of a hub that is not running, and writes files of requests for {@code parley bench call}.
 *
 * <p>Arguments: the data directory, the number of statements, and the directory for {@code kg-entity.jsonl} (one entity with
 * its ten statements), {@code kg-hops.jsonl} (from an entity to what it is part of, and to what that is part of, with
 * certainty) and {@code kg-update.jsonl} (one new statement).
 */
public final class FillGraph {
    private static final int BATCH = 50_000;
    private static final int STATEMENTS_EACH = 10;
    private static final int REQUESTS = 2_000;

    private FillGraph() {}

    public static void main(String[] arguments) throws IOException {
        int entities = Integer.parseInt(arguments[1]) / STATEMENTS_EACH;
        long start = System.nanoTime();
        long loaded = 0;
        try (Graph graph = Graph.open(Path.of(arguments[0]))) {
            var random = new Random(1);
            var batch = new ArrayList<Statement>();
            for (int i = 0; i < entities; i++) {
                describe(i, entities, random, batch);
                if (batch.size() >= BATCH || i == entities - 1) {
                    loaded += graph.load(batch, CallContext.anonymous(), "bench");
                    batch.clear();
                }
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf("%,d statements in %.1f s: %,.0f/s%n", loaded, seconds, loaded / seconds);
        requests(Path.of(arguments[2]), entities);
    }

    private static String entity(int number) {
        return "urn:bench:entity:" + number;
    }

    private static void describe(int number, int entities, Random random, List<Statement> into) {
        String id = entity(number);
        into.add(Statement.of(id, Term.TYPE, Term.Resource.of("urn:bench:Class" + number % 20))
                .withCertainty(1.0));
        into.add(says(id, "name", Literal.of("Entity number " + number), random));
        into.add(says(id, "status", Literal.of(number % 3 == 0 ? "active" : "done"), random));
        into.add(says(id, "budget", Literal.of(random.nextInt(100_000)), random));
        into.add(says(id, "note", Literal.of("Note " + random.nextLong() + " about it", "en"), random));
        into.add(says(id, "since", new Literal("20" + (10 + number % 15) + "-01-05", Term.XSD + "date", null), random));
        into.add(says(id, "score", new Literal("0." + random.nextInt(1_000), Literal.DECIMAL, null), random));
        for (int i = 0; i < 3; i++) {
            into.add(says(
                    id, i == 0 ? "partOf" : "knows" + i, Term.Resource.of(entity(random.nextInt(entities))), random));
        }
    }

    private static Statement says(String id, String predicate, Term object, Random random) {
        return Statement.of(id, "urn:bench:" + predicate, object).withCertainty(random.nextInt(50, 101) / 100.0);
    }

    private static void requests(Path directory, int entities) throws IOException {
        Files.createDirectories(directory);
        var random = new Random(2);
        var one = new ArrayList<String>();
        var hops = new ArrayList<String>();
        for (int i = 0; i < REQUESTS; i++) {
            String variables = "\"variables\":{\"id\":\"" + entity(random.nextInt(entities)) + "\"}";
            one.add(query(
                    "query($id:ID!){ entity(id:$id){ id types statements(first:20){ nodes { predicate certainty"
                            + " object { id value type } } } } }",
                    variables));
            hops.add(query(
                    "query($id:ID!){ entity(id:$id){ statements(predicate:\\\"urn:bench:partOf\\\"){ nodes { object {"
                            + " entity { id statements(predicate:\\\"urn:bench:partOf\\\"){ nodes { object { entity { id"
                            + " value(predicate:\\\"urn:bench:name\\\") } } } } } } } } } }",
                    variables + ",\"requiredCertainty\":0.8"));
        }
        Files.write(directory.resolve("kg-entity.jsonl"), one);
        Files.write(directory.resolve("kg-hops.jsonl"), hops);
        Files.write(
                directory.resolve("kg-update.jsonl"),
                List.of(
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"knowledge/update\",\"params\":{\"mutations\":[{\"op\":\"add\","
                                + "\"statement\":{\"subject\":{\"id\":\"urn:bench:new:0000000000000000\"},\"predicate\":{\"id\":"
                                + "\"urn:bench:status\"},\"object\":{\"value\":\"active\"},\"certainty\":0.9}}]}}"));
    }

    private static String query(String graphql, String more) {
        return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"knowledge/query\",\"params\":{\"query\":\"" + graphql + "\","
                + more + "}}";
    }
}
