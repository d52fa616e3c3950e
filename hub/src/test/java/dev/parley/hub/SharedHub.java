package dev.parley.hub;

import dev.parley.engine.Agent;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A hub of two groups in a process of its own. The graph of one has chains of statements, long texts, and shapes whose check
 * follows each chain from each statement of each chain. Says "ready URL" once it answers. Arguments: the data directory, and for
 * TLS the files of the certificate and its key.
 */
final class SharedHub {
    static final String HOSTILE_KEY = "the-key-of-the-hostile-group";
    static final String ORDINARY_KEY = "the-key-of-the-ordinary-group";

    private static final String SHAPES = """
            @prefix sh: <http://www.w3.org/ns/shacl#> .
            <ex:Shape> a sh:NodeShape ; sh:targetSubjectsOf <p> ; sh:property <ex:P1> .
            <ex:P1> sh:path [ sh:zeroOrMorePath <p> ] ; sh:node [ sh:property <ex:P2> ] .
            <ex:P2> sh:path [ sh:zeroOrMorePath <p> ] ; sh:node [ sh:property <ex:P3> ] .
            <ex:P3> sh:path [ sh:zeroOrMorePath <p> ] ; sh:maxCount 100000 .
            """;

    private SharedHub() {}

    public static void main(String[] args) throws InterruptedException {
        Path data = Path.of(args[0]);
        fill(data);
        HubBuilder builder = Hub.builder();
        if (args.length > 1) {
            builder.tls(Path.of(args[1]), Path.of(args[2]));
        }
        Hub hub = builder.data(data)
                .port(0)
                .agents(Agent.named("echo", "Says it again")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete(request.text())))
                .callers(Callers.builder()
                        .apiKey("mallory", HOSTILE_KEY)
                        .group("mallory", "hostile")
                        .apiKey("alice", ORDINARY_KEY)
                        .group("alice", "ordinary")
                        .build())
                .authentication(Authentication.named(List.of("apiKey")))
                .drain(Duration.ofSeconds(1))
                .start();
        hub.closeOnShutdown();
        System.out.println("ready " + hub.url());
        Thread.currentThread().join();
    }

    private static void fill(Path data) {
        CallContext hostile = CallContext.of("mallory", new Scope("hostile", "mallory"));
        try (Graph graph = Graph.open(data)) {
            graph.load(
                    IntStream.range(0, 600)
                            .mapToObj(i -> Statement.of("ex:n" + i, "p", Resource.of("ex:n" + (i + 1))))
                            .toList(),
                    hostile,
                    "file");
            graph.load(
                    IntStream.range(0, 30_000)
                            .mapToObj(i -> Statement.of("ex:t" + i % 100, "ex:text", Literal.of("text " + i)))
                            .toList(),
                    hostile,
                    "file");
            graph.shapes("hostile", SHAPES);
        }
    }
}
