package dev.parley.knowledge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.model.Review;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Feed;
import dev.parley.store.Faults;
import dev.parley.store.Faults.Fault;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.testkit.Eventually;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commits that fail, of which SQLite has done nothing or all: what a graph remembers is what the database has then, as a
 * graph that has just been opened sees it.
 */
@Timeout(120)
final class GraphFailedCommitTest {
    private static final String GROUP = "group";
    private static final CallContext ALICE = CallContext.of("alice", new Scope(GROUP, "alice"));
    private static final CallContext OPERATOR = CallContext.of("operator", new Scope(GROUP, "operator"));
    private static final String ALL = "subscription { knowledgeChanged { op } }";

    @TempDir
    private Path directory;

    private final Faults faults = new Faults();
    private Database database;
    private Graph graph;

    @BeforeEach
    void open() {
        database = Database.open(directory, faults::wrap);
        graph = opened();
    }

    @AfterEach
    void close() {
        faults.pass();
        graph.close();
        database.close();
    }

    private Graph opened() {
        InstantSource clock = InstantSource.system();
        return Graph.in(database, AuditTrail.in(database, clock), clock);
    }

    private void add(String subject, String value) {
        graph.update(Update.of(Patch.add(Statement.of(subject, "ex:status", Literal.of(value)))), ALICE);
    }

    private void commitFails(boolean durable, Runnable change) {
        database.write(session -> session); // after the rows about earlier questions, which are written by themselves
        faults.commits(Fault.IO, durable);
        assertThatThrownBy(change::run).isInstanceOf(RuntimeException.class);
        faults.pass();
        Eventually.holds("the outage ends", () -> database.outage().isEmpty());
    }

    private static Object values(Graph of, @Nullable Double floor) {
        return String.valueOf(of.query(
                        Query.graphql(
                                        "{ statements { nodes { subject { id } object { value } provenance } } }",
                                        Map.of())
                                .atLeast(floor, null),
                        ALICE)
                .data());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rulesAndShapesAreThoseOfTheDatabase(boolean durable) {
        add("ex:p1", "active");
        graph.rules(GROUP);
        String shape =
                "<ex:S> a <http://www.w3.org/ns/shacl#NodeShape> ; <http://www.w3.org/ns/shacl#targetClass> <ex:C> .";
        assertThat(graph.shapesText(GROUP)).isEmpty();

        commitFails(
                durable,
                () -> graph.rules(
                        GROUP, Alignment.read("{\"rules\":[{\"id\":\"r\",\"on\":\"update\",\"effect\":\"forbid\"}]}")));

        try (Graph fresh = opened()) {
            assertThat(graph.rules(GROUP)).isEqualTo(fresh.rules(GROUP));
            assertThat(graph.rules(GROUP).equals(Alignment.NONE)).isEqualTo(!durable);
        }
        graph.rules(GROUP, Alignment.NONE);
        add("ex:p1", "shapes are read for it");
        commitFails(durable, () -> graph.shapes(GROUP, shape));
        assertThat(graph.shapesText(GROUP).isEmpty()).isEqualTo(!durable);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shapesThatHoldAreThoseOfTheDatabase(boolean durable) {
        add("ex:p1", "active"); // the shapes of the group are known from here on

        commitFails(durable, () -> graph.shapes(GROUP, """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:S> a sh:NodeShape ; sh:targetNode <ex:p1> ; sh:property [ sh:path <ex:status> ; sh:maxCount 1 ] .
                """));

        boolean accepted = graph.update(
                        Update.of(Patch.add(Statement.of("ex:p1", "ex:status", Literal.of("second")))), ALICE)
                .success();
        assertThat(accepted).isEqualTo(!durable);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theCertaintyOfAGraphIsThatOfTheDatabase(boolean durable) {
        add("ex:p1", "active");

        commitFails(durable, () -> graph.defaultCertainty(GROUP, null, 0.9));

        try (Graph fresh = opened()) {
            assertThat(values(graph, 0.5)).isEqualTo(values(fresh, 0.5));
            assertThat(values(graph, 0.5).toString().contains("active")).isEqualTo(durable);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void numbersOfTermsAreThoseOfTheDatabase(boolean durable) {
        add("ex:p0", "before");
        for (int round = 0; round < 5; round++) {
            int number = round;
            commitFails(durable, () -> add("ex:refused" + number, "refused " + number));
            add("ex:refused" + number, "again " + number);
            add("ex:other" + number, "refused " + number);
        }

        try (Graph fresh = opened()) {
            assertThat(values(graph, null))
                    .isEqualTo(values(fresh, null))
                    .asString()
                    .contains("id=ex:p0", "value=before", "value=again 4", "value=refused 4");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoWatchesIsToldOfWhatIsOnDiskOnceAndInOrder(boolean durable) throws Exception {
        try (Feed<Change> changes = graph.subscribe(Subscribe.graphql(ALL, Map.of()), ALICE);
                Feed<Change> late = graph.subscribe(Subscribe.graphql(ALL, Map.of()), ALICE)) {
            add("ex:p1", "first");
            assertThat(changes.next(Duration.ofSeconds(30))).hasSize(1);

            commitFails(durable, () -> add("ex:p1", "second"));
            add("ex:p1", "third");

            List<String> expected = durable ? List.of("second", "third") : List.of("third");
            assertThat(read(changes, expected.size())).isEqualTo(expected);
            assertThat(read(late, expected.size() + 1))
                    .hasSize(expected.size() + 1)
                    .endsWith("third");
            assertThat(changes.next(Duration.ofMillis(1))).isEmpty();
        }
    }

    private static List<String> read(Feed<Change> changes, int wanted) throws InterruptedException {
        var seen = new ArrayList<String>();
        while (seen.size() < wanted) {
            List<Change> news = requireNonNull(changes.next(Duration.ofSeconds(30)), "the end of the subscription");
            assertThat(news).as("changes within 30 s after " + seen).isNotEmpty();
            news.forEach(change -> seen.add(((Literal) change.statement().object()).lexical()));
        }
        return seen;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anErasureWhoseCommitFailedIsInMemoryAsItIsOnDisk(boolean durable) {
        graph.rules(
                GROUP,
                Alignment.read("{\"rules\":[{\"id\":\"r\",\"on\":\"query\",\"match\":{\"sourceAgent\":\"alice\","
                        + "\"graph\":\"ex:other\"},\"effect\":\"redact\"}]}"));
        add("ex:p1", "active");
        assertThat(values(graph, null).toString()).contains("alice");

        commitFails(durable, () -> graph.erase("alice", false, OPERATOR));

        try (Graph fresh = opened()) {
            assertThat(values(graph, null)).isEqualTo(values(fresh, null));
            assertThat(graph.rules(GROUP)).isEqualTo(fresh.rules(GROUP));
        }
        graph.erase("alice", false, OPERATOR);
        try (Graph fresh = opened()) {
            assertThat(values(graph, null)).isEqualTo(values(fresh, null));
            assertThat(values(graph, null).toString()).doesNotContain("alice");
            assertThat(graph.rules(GROUP)).isEqualTo(fresh.rules(GROUP));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void numbersOfReviewsAreGivenOnce(boolean durable) {
        graph.rules(GROUP, Alignment.read("{\"rules\":[{\"id\":\"r\",\"on\":\"update\",\"effect\":\"review\"}]}"));
        add("ex:p1", "first");
        commitFails(durable, () -> add("ex:p1", "second"));
        add("ex:p1", "third");

        List<Review> waiting = graph.reviews(GROUP, null, null, 10).items();

        assertThat(waiting).extracting(Review::id).doesNotHaveDuplicates();
        assertThat(waiting).hasSize(durable ? 3 : 2);
        try (Graph fresh = opened()) {
            assertThat(fresh.reviews(GROUP, null, null, 10).items()).isEqualTo(waiting);
        }
    }
}
