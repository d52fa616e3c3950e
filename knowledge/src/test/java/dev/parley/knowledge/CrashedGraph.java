package dev.parley.knowledge;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.KnowledgeOperation.Verification;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A graph in a process of its own, to be killed. Eight threads change it for ever. Says {@code done ID} or {@code held ID}
 * for each update that was acknowledged, and {@code seen CHANGE} for each change that a reader was shown, who goes on behind
 * the one named last.
 */
final class CrashedGraph {
    /** System property with the address of the server of the statements, if they are not in the database. */
    static final String SPARQL = "parley.test.sparql";

    private static final int WRITERS = 8;

    private CrashedGraph() {}

    public static void main(String[] args) throws InterruptedException {
        Database database = Database.open(Path.of(args[0]));
        Graph graph = open(database, System.getProperty(SPARQL));
        graph.rules(
                "default",
                Alignment.read(
                        "{\"rules\":[{\"id\":\"r\",\"on\":\"update\",\"match\":{\"certaintyBelow\":0.5},\"effect\":\"review\"}]}"));
        Feed<Change> changes = graph.subscribe(
                Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of())
                        .with(args.length > 2 ? Map.of("afterChangeId", args[2]) : Map.of()),
                CallContext.anonymous());
        for (int i = 0; i < WRITERS; i++) {
            String name = args[1] + "-" + i;
            Thread.ofVirtual().start(() -> write(graph, name));
        }
        while (true) {
            List<Change> news = changes.next(Duration.ofMinutes(1));
            Objects.requireNonNull(news).forEach(change -> say("seen " + change.changeId()));
        }
    }

    static Graph open(Database database, @Nullable String sparql) {
        InstantSource clock = InstantSource.system();
        return Graph.in(
                database,
                AuditTrail.in(database, clock),
                clock,
                sparql == null ? null : new SparqlService(URI.create(sparql), URI.create(sparql), () -> ""));
    }

    private static void write(Graph graph, String name) {
        for (int i = 0; ; i++) {
            String id = "ex:" + name + "-" + i;
            Statement statement =
                    Statement.of(id, "ex:status", Literal.of("here")).withCertainty(i % 10 == 0 ? 0.1 : 0.9);
            UpdateResult result = graph.update(Update.of(Patch.add(statement)), CallContext.anonymous());
            boolean waits = Verification.PENDING.equals(result.verificationStatus());
            say((waits ? "held " : "done ") + id);
        }
    }

    private static void say(String line) {
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }
}
