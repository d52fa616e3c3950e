package dev.parley.knowledge;

import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** A program whose class path may lack libraries. Prints the outcome of each kind of call. */
final class PartialGraph {
    private PartialGraph() {}

    public static void main(String[] args) {
        CallContext caller = CallContext.anonymous();
        try (Graph graph = Graph.open(Path.of(args[0]))) {
            System.out.println("languages " + graph.queryLanguages());
            say(
                    "update",
                    () -> graph.update(
                                    Update.of(Patch.add(Statement.of("ex:p1", "ex:status", Literal.of("here")))),
                                    caller)
                            .success());
            say(
                    "graphql",
                    () -> graph.query(Query.graphql("{ entity(id:\"ex:p1\") { id } }", Map.of()), caller)
                            .data());
            say(
                    "sparql",
                    () -> graph.query(Query.sparql("ASK { ?s ?p ?o }"), caller).data());
            say(
                    "sparqlUpdate",
                    () -> graph.update(
                                    new Update(
                                            List.of(),
                                            "INSERT DATA { <ex:p2> <ex:status> 1 }",
                                            null,
                                            null,
                                            null,
                                            null,
                                            Map.of()),
                                    caller)
                            .success());
            say("schema", () -> graph.schema(caller).length() > 0);
            say("subscribe", () -> {
                graph.subscribe(Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of()), caller)
                        .close();
                return true;
            });
            say("shapes", () -> {
                graph.shapes(
                        "default",
                        "@prefix sh: <http://www.w3.org/ns/shacl#> . <ex:S> a sh:NodeShape ; sh:targetClass <ex:C> .");
                return true;
            });
        }
    }

    private static void say(String what, Supplier<Object> call) {
        try {
            System.out.println(what + " answered " + call.get());
        } catch (A2AException refused) {
            System.out.println(what + " refused " + refused.error() + " " + refused.getMessage());
        }
    }
}
