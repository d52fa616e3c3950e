package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.sparql.ShaclShapes;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A group whose shapes take longer to check than a check may take, and a caller of another group. */
@Timeout(120)
final class HostileShapesTest {
    private static final CallContext HOSTILE = CallContext.of("mallory", new Scope("hostile", "mallory"));
    private static final CallContext ORDINARY = CallContext.of("alice", new Scope("ordinary", "alice"));

    private Graph graph;

    @BeforeEach
    void open(@TempDir Path directory) {
        graph = Graph.open(directory);
        load(graph);
    }

    private static void load(Graph graph) {
        graph.load(
                IntStream.range(0, 600)
                        .mapToObj(i -> Statement.of("ex:n" + i, "p", Resource.of("ex:n" + (i + 1))))
                        .toList(),
                HOSTILE,
                "file");
        graph.shapes("hostile", """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:Shape> a sh:NodeShape ; sh:targetSubjectsOf <p> ; sh:property <ex:P1> .
                <ex:P1> sh:path [ sh:zeroOrMorePath <p> ] ; sh:node [ sh:property <ex:P2> ] .
                <ex:P2> sh:path [ sh:zeroOrMorePath <p> ] ; sh:node [ sh:property <ex:P3> ] .
                <ex:P3> sh:path [ sh:zeroOrMorePath <p> ] ; sh:maxCount 100000 .
                """);
    }

    @AfterEach
    void close() {
        graph.close();
    }

    private static Update status(String subject) {
        return Update.of(Patch.add(Statement.of(subject, "ex:status", Literal.of("new"))));
    }

    private FutureTask<Boolean> begin() {
        var update =
                new FutureTask<>(() -> graph.update(status("ex:n0"), HOSTILE).success());
        Thread.ofVirtual().start(update);
        return update;
    }

    /** Returns the names of the threads that check shapes, as soon as there is one. */
    private static List<String> checking() {
        return Eventually.value(
                "a thread checks shapes",
                () -> Thread.getAllStackTraces().entrySet().stream()
                        .filter(thread -> Arrays.stream(thread.getValue())
                                .anyMatch(frame -> frame.getClassName().equals(ShaclShapes.class.getName())))
                        .map(thread -> thread.getKey().getName())
                        .toList(),
                names -> !names.isEmpty());
    }

    @Test
    void theWriterDoesNotCheckShapes() {
        FutureTask<Boolean> hostile = begin();

        assertThat(checking()).containsExactly("knowledge-worker");
        assertThat(graph.update(status("ex:a"), ORDINARY).success()).isTrue();
        hostile.cancel(true);
    }

    @Test
    @Tag("heavy") // waits for the time-out of 10 s
    void aCheckThatTakesTooLongEndsAndRefusesTheUpdate() {
        FutureTask<Boolean> hostile = begin();

        assertThatThrownBy(hostile::get).cause().isInstanceOfSatisfying(A2AException.class, refused -> {
            assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_UPDATE);
            assertThat(refused.metadata()).containsEntry("reason", "timeout");
        });
        assertThat(graph.update(status("ex:elsewhere"), HOSTILE).success()).isTrue();
    }

    @Test
    void moreChecksThanMayWaitAreRefusedAndTheOrdinaryUpdateIsNot() throws InterruptedException {
        var hostile = IntStream.range(0, 300).mapToObj(i -> begin()).toList();

        assertThat(checking()).isNotEmpty();
        assertThat(graph.update(status("ex:a"), ORDINARY).success()).isTrue();
        for (FutureTask<Boolean> one : hostile) {
            one.cancel(true);
        }
    }

    @Test
    void anUpdateIsRefusedAsBusyIfItsShapesCannotBeReadForQueriesOfItsGroup(@TempDir Path other) {
        try (Graph first = Graph.open(other)) {
            load(first);
        }
        try (Graph again = Graph.open(other)) {
            Query endless = Query.sparql("SELECT (COUNT(*) AS ?n) { ?x (<p>*/<p>*/<p>*)* ?y . ?y (<p>*/<p>*)* ?z }");
            var queries = IntStream.range(0, 200)
                    .mapToObj(i -> {
                        var query = new FutureTask<>(() -> again.query(endless, HOSTILE));
                        Thread.ofVirtual().start(query);
                        return query;
                    })
                    .toList();
            // A query is refused when the queue of its group is full.
            Eventually.holds("a query is refused", () -> queries.stream().anyMatch(FutureTask::isDone));

            A2AException refused = refusal(again);

            assertThat(refused).isNotNull();
            assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_UPDATE);
            assertThat(refused.metadata()).containsEntry("reason", "busy");
            queries.forEach(query -> query.cancel(true));
        }
    }

    private static @Nullable A2AException refusal(Graph graph) {
        try {
            graph.update(status("ex:a"), HOSTILE);
            return null;
        } catch (A2AException refused) {
            return refused;
        }
    }
}
