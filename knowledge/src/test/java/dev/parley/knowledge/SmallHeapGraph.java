package dev.parley.knowledge;

import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * A graph in a process of its own, with a small heap. Two groups make as many queries at once as they have threads, each of
 * which needs as much memory as it gets, and a third group makes a small one. Says how each ended.
 */
public final class SmallHeapGraph {
    private static final int ROUNDS = 2;

    private static final List<String> LARGE = List.of(
            "SELECT ?h { BIND(\"" + "x".repeat(10_000)
                    + "\" AS ?a) BIND(CONCAT(?a,?a,?a,?a,?a,?a,?a,?a) AS ?b) BIND(CONCAT(?b,?b,?b,?b,?b,?b,?b,?b) AS ?c)"
                    + " BIND(CONCAT(?c,?c,?c,?c,?c,?c,?c,?c) AS ?d) BIND(CONCAT(?d,?d,?d,?d,?d,?d,?d,?d) AS ?h) }",
            "SELECT ?c ?f { ?a <ex:text> ?c . ?d <ex:text> ?f } ORDER BY ?f DESC(?c)",
            "SELECT DISTINCT ?c ?f ?i { ?a <ex:text> ?c . ?d <ex:text> ?f . ?g <ex:text> ?i }",
            "SELECT (GROUP_CONCAT(?c) AS ?all) { ?a <ex:text> ?c . ?d <ex:text> ?f }");

    private SmallHeapGraph() {}

    private static CallContext caller(String group) {
        return CallContext.of("caller", new Scope(group, "caller"));
    }

    public static void main(String[] args) throws Exception {
        try (Graph graph = Graph.open(Path.of(args[0]));
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (String group : List.of("first", "second", "third")) {
                graph.load(
                        IntStream.range(0, 2_000)
                                .mapToObj(i ->
                                        Statement.of("ex:s" + i, "ex:text", Literal.of(i + " and more ".repeat(20))))
                                .toList(),
                        caller(group),
                        "file");
            }
            for (int round = 0; round < ROUNDS; round++) {
                for (String query : LARGE) {
                    var answers = new ArrayList<Future<String>>();
                    for (int i = 0; i < SqlStatementStore.AT_ONCE / 2; i++) {
                        answers.add(threads.submit(() -> end(graph, query, "first")));
                        answers.add(threads.submit(() -> end(graph, query, "second")));
                    }
                    System.out.println("small " + end(graph, "ASK { <ex:s1> <ex:text> ?o }", "third"));
                    for (Future<String> answer : answers) {
                        System.out.println("large " + answer.get());
                    }
                }
            }
        }
        System.out.println("closed");
    }

    private static String end(Graph graph, String query, String group) {
        try {
            graph.query(Query.sparql(query), caller(group));
            return "answered";
        } catch (A2AException refused) {
            return "refused " + refused.error() + " " + refused.metadata().get("reason");
        } catch (RuntimeException | Error failure) {
            return "failed " + failure;
        }
    }
}
