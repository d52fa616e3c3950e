package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Queries of one group that compute for as long as they may leave threads, connections and processors to others. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileQueriesTest {
    /** More than there are carriers of virtual threads, or connections that read. */
    private static final int MANY = Runtime.getRuntime().availableProcessors() + 4;

    private static final CallContext HOSTILE = CallContext.of("mallory", new Scope("hostile", "mallory"));
    private static final CallContext ORDINARY = CallContext.of("alice", new Scope("ordinary", "alice"));

    /** The hostile callers go on for longer. */
    private static final long SOON_MS = 50_000;

    private Graph graph;

    @BeforeAll
    void open(@TempDir Path directory) {
        graph = Graph.open(directory);
        graph.load(
                IntStream.range(0, 600)
                        .mapToObj(i -> Statement.of("ex:n" + i, "p", Resource.of("ex:n" + (i + 1))))
                        .toList(),
                HOSTILE,
                "file");
        graph.load(
                IntStream.range(0, 30_000)
                        .mapToObj(i -> Statement.of("ex:t" + i % 100, "ex:text", Literal.of("text " + i)))
                        .toList(),
                HOSTILE,
                "file");
        graph.load(List.of(Statement.of("ex:a", "ex:status", Literal.of("done"))), ORDINARY, "file");
    }

    @AfterAll
    void close() {
        graph.close();
    }

    static List<Query> hostile() {
        return List.of(
                Query.sparql("SELECT (COUNT(*) AS ?n) { ?x (<p>*/<p>*/<p>*/<p>*)* ?y . ?y (<p>*/<p>*)* ?z }"),
                Query.sparql(
                        "SELECT (COUNT(*) AS ?n) { ?x <ex:text> ?t . ?y <ex:text> ?u FILTER(REPLACE(CONCAT(?t, ?u),"
                                + " \"(t*e*x*t*)*b\", \"x\") = \"b\") }"),
                Query.sparql("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c = ?f && ?f = ?i) }"),
                Query.graphql(
                        "{ "
                                + IntStream.range(0, 30)
                                        .mapToObj(i -> "a" + i + ": entities(text: \"nothing has this " + i
                                                + "\", orderBy: \"ex:text\", first: 1) { nodes { id } } ")
                                        .reduce("", String::concat)
                                + "}",
                        Map.of()));
    }

    private static List<Thread> begin(Query query, Graph graph) throws InterruptedException {
        var begun = new CountDownLatch(MANY);
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < MANY; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                begun.countDown();
                while (!Thread.currentThread().isInterrupted()) {
                    try {
                        graph.query(query, HOSTILE);
                    } catch (RuntimeException ended) {
                        // by its time, by its budget, or by the test
                    }
                }
            }));
        }
        begun.await(SOON_MS, TimeUnit.MILLISECONDS);
        return threads;
    }

    private static void end(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** On a machine that is busy with other things a query may come to the end of its 10 s; then it is asked again. */
    private void answered(String query, CallContext caller) {
        Object answer = Eventually.value(
                "an answer",
                () -> {
                    try {
                        return requireNonNull(
                                graph.query(Query.sparql(query), caller).data());
                    } catch (A2AException late) {
                        return late;
                    }
                },
                data -> !(data instanceof A2AException));
        assertThat(answer).isEqualTo(Map.of("head", Map.of(), "boolean", true));
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void anotherGroupIsAnsweredMeanwhile(Query query) throws InterruptedException {
        List<Thread> hostile = begin(query, graph);
        try {
            for (int i = 0; i < 10; i++) {
                answered("ASK { <ex:a> <ex:status> \"done\" }", ORDINARY);
            }
        } finally {
            end(hostile);
        }
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void virtualThreadsRunMeanwhile(Query query) throws InterruptedException {
        List<Thread> hostile = begin(query, graph);
        try {
            for (int i = 0; i < 10; i++) {
                var ran = new CountDownLatch(1);
                Thread.ofVirtual().start(ran::countDown);
                assertThat(ran.await(SOON_MS, TimeUnit.MILLISECONDS)).isTrue();
            }
        } finally {
            end(hostile);
        }
    }

    @Test
    void aCallerThatHasGoneEndsItsQuery() throws InterruptedException {
        for (Query query : hostile()) {
            end(begin(query, graph));
        }

        answered("ASK { <ex:n1> <p> ?o }", HOSTILE); // all threads of the group would be taken
    }

    @Test
    void aGroupWithTooManyQueriesIsToldToComeLater() throws InterruptedException {
        var refused = new LinkedBlockingQueue<A2AException>();
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < 200 + MANY; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                try {
                    graph.query(hostile().get(2), HOSTILE);
                } catch (A2AException problem) {
                    refused.add(problem);
                } catch (RuntimeException ended) {
                    // by the test
                }
            }));
        }
        try {
            A2AException first = refused.poll(30, TimeUnit.SECONDS);
            assertThat(first).isNotNull();
            assertThat(first.error()).isEqualTo(KnowledgeError.KNOWLEDGE_QUERY);
            assertThat(first.metadata()).containsEntry("reason", "busy");
            assertThat(first.retryAfter()).isNotNull();
            assertThat(graph.query(Query.sparql("ASK { <ex:a> ?p ?o }"), ORDINARY)
                            .data())
                    .isEqualTo(Map.of("head", Map.of(), "boolean", true));
        } finally {
            end(threads);
        }
    }

    @Test
    void anUpdateOfAnotherGroupIsWrittenMeanwhile() throws InterruptedException {
        List<Thread> hostile = begin(hostile().getFirst(), graph);
        try {
            Update update = Update.of(Patch.add(Statement.of("ex:b", "ex:status", Literal.of("new"))));
            assertThat(graph.update(update, ORDINARY).success()).isTrue();
        } finally {
            end(hostile);
        }
    }
}
