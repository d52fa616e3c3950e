package dev.parley.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.QueryResult;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.KnowledgeOperation.Verification;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.SparqlService;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.store.GraphView;
import dev.parley.knowledge.store.StatementStoreContract;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.Feed;
import dev.parley.protocol.InvalidField;
import dev.parley.store.audit.AuditChain;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.Database;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a graph does, whichever database it is in. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class GraphContract {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final AtomicInteger GROUPS = new AtomicInteger();

    private final StatementStoreContract.Clock clock = new StatementStoreContract.Clock();
    private Database database;
    private AuditTrail trail;
    private GraphCalls graph;
    private CallContext context = CallContext.anonymous();

    /** Opens an empty database. */
    abstract Database database(Path directory) throws IOException;

    /** The server of the statements; null if they are in the database. */
    @Nullable
    SparqlService service() {
        return null;
    }

    /** The calls of the graph, which a test may have fail. */
    GraphCalls calls(Graph opened) {
        return GraphCalls.of(opened, (method, call) -> call.make());
    }

    @BeforeAll
    void open(@TempDir Path directory) throws IOException {
        database = database(directory);
        trail = AuditTrail.in(database, clock);
        graph = calls(Graph.in(database, trail, clock, service()));
    }

    @AfterAll
    void close() throws IOException {
        graph.close();
        database.close();
    }

    @BeforeEach
    void begin() {
        context = caller("anonymous", "graph-" + GROUPS.incrementAndGet());
    }

    private static CallContext caller(String name, String group) {
        return CallContext.of(name, new Scope(group, name));
    }

    private String group() {
        return context.scope().group();
    }

    private static Statement status(String subject, String value) {
        return Statement.of(subject, "ex:status", Literal.of(value));
    }

    private UpdateResult update(Patch... patches) {
        return graph.update(Update.of(patches), context);
    }

    private UpdateResult sparql(String text) {
        return graph.update(new Update(List.of(), text, null, null, null, null, Map.of()), context);
    }

    private @Nullable Object values(String subject) {
        return values(subject, query -> query);
    }

    private @Nullable Object values(String subject, UnaryOperator<Query> with) {
        QueryResult result = graph.query(
                with.apply(Query.graphql(
                        "query($id:ID!){ entity(id:$id){ statements(predicate:\"ex:status\"){ nodes { object { value } } } } }",
                        Map.of("id", subject))),
                context);
        return result.data();
    }

    private static Map<String, Object> nodes(String... values) {
        var nodes = new ArrayList<Object>();
        for (String value : values) {
            nodes.add(Map.of("object", Map.of("value", value)));
        }
        return Map.of("entity", Map.of("statements", Map.of("nodes", nodes)));
    }

    private static void assertRefused(Runnable asking, ErrorKind error, String reason) {
        assertThatThrownBy(asking::run).isInstanceOfSatisfying(A2AException.class, refused -> {
            assertThat(refused.error()).isEqualTo(error);
            assertThat(refused.metadata()).containsEntry("reason", reason);
        });
    }

    // ---- Updates

    @Test
    void kg02_kg07_whatIsAddedReplacedAndRemovedIsCountedAndSeen() {
        UpdateResult added = update(Patch.add(status("ex:p1", "active")), Patch.add(status("ex:p2", "active")));
        UpdateResult replaced = update(Patch.replace(status("ex:p1", "done")));
        UpdateResult removed = update(Patch.remove(status("ex:p2", "active")));

        assertThat(added).isEqualTo(new UpdateResult(true, 2, List.of("ex:p1", "ex:p2"), "Verified", null));
        assertThat(replaced.statementsAffected()).isEqualTo(2);
        assertThat(removed.statementsAffected()).isEqualTo(1);
        assertThat(values("ex:p1")).isEqualTo(nodes("done"));
    }

    @Test
    void kg07_sayingTheSameAgainChangesNothingButItsAge() {
        Patch patch = Patch.add(status("ex:p1", "active").withCertainty(0.9));
        update(patch);
        clock.now = clock.now.plusSeconds(60);

        UpdateResult again = update(patch);

        assertThat(again.statementsAffected()).isZero();
        assertThat(again.success()).isTrue();
        assertThat(values("ex:p1", query -> query.atLeast(null, Duration.ofSeconds(1))))
                .isEqualTo(nodes("active"));
    }

    @Test
    void kg07_takingBackWhatIsNotThereIsNoError() {
        assertThat(update(Patch.remove(status("ex:p1", "never"))))
                .isEqualTo(new UpdateResult(true, 0, List.of(), "Verified", null));
    }

    @Test
    void kg08_laterPatchesSeeEarlierOnes() {
        UpdateResult result = update(
                Patch.add(status("ex:p1", "one")),
                Patch.replace(status("ex:p1", "two")),
                Patch.remove(status("ex:p1", "two")));

        assertThat(result.statementsAffected()).isEqualTo(4);
        assertThat((Map<?, ?>) values("ex:p1")).isEqualTo(Collections.singletonMap("entity", null));
    }

    @Test
    void kg07_replacingAnAnnotationLeavesOtherStatementsAlone() {
        update(Patch.add(status("ex:p1", "one")), Patch.add(status("ex:p1", "two")));

        graph.update(
                Update.of(Patch.replace(status("ex:p1", "one").withCertainty(0.5)))
                        .with(Map.of("replaceMode", "annotation")),
                context);

        assertThat(values("ex:p1")).isEqualTo(nodes("one", "two"));
    }

    @Test
    void anUpdateOfAnOldRevisionIsAConflict() {
        update(Patch.add(status("ex:p1", "one")));
        Object revision = graph.query(Query.graphql("{ graphs { name } }", Map.of()), context)
                .metadata()
                .get("revision");
        var update = Update.of(Patch.replace(status("ex:p1", "two"))).with(Map.of("ifRevision", revision));

        graph.update(update, context);

        assertRefused(() -> graph.update(update, context), KnowledgeError.KNOWLEDGE_UPDATE, "conflict");
        assertThat(values("ex:p1")).isEqualTo(nodes("two"));
    }

    @Test
    void anUpdateWithAKeyIsDoneOnce() {
        var update = Update.of(Patch.replace(status("ex:p1", "one"))).with(Map.of("idempotencyKey", "k1"));

        UpdateResult first = graph.update(update, context);
        update(Patch.replace(status("ex:p1", "two")));
        UpdateResult second = graph.update(update, context);

        assertThat(second).isEqualTo(first);
        assertThat(values("ex:p1")).isEqualTo(nodes("two"));
    }

    @Test
    void kg11_whereAStatementComesFromIsWrittenDown() {
        CallContext reporter = caller("reporter", group());

        graph.update(
                Update.of(Patch.add(status("ex:p1", "active")
                                .withProvenance(Map.of("sensor", "s1", "recordedBy", "somebody else"))))
                        .saying("an impostor", "seen on site")
                        .forTask("t-77"),
                reporter);

        Map<?, ?> provenance = (Map<?, ?>) Objects.requireNonNull(first(
                graph.query(Query.graphql("{ statements { nodes { provenance } } }", Map.of()), context)
                        .data(),
                "statements",
                "nodes",
                "provenance"));
        assertThat(provenance)
                .extracting("sensor", "recordedBy", "sourceAgentId", "claimedSourceAgentId", "taskId", "justification")
                .containsExactly("s1", "reporter", "reporter", "an impostor", "t-77", "seen on site");
        assertThat(provenance.get("changeId")).asString().matches("[0-9a-f-]{36}");
        assertThat(recorded()).singleElement().satisfies(entry -> {
            assertThat(entry.actor()).isEqualTo("reporter");
            assertThat(entry.outcome()).isEqualTo("Verified");
            assertThat(entry.detail().toString())
                    .contains("justification=seen on site", "sourceAgentId=an impostor", "taskId=t-77");
        });
    }

    /** What the record of the hub has about updates of the group. */
    private List<AuditEntry> recorded() {
        Filter updates = new Filter(group(), null, "knowledge.updated", null, null, null);
        return trail.rows(updates, 0, 100).stream().map(AuditRow::entry).toList();
    }

    @Test
    @Tag("records")
    void kg32_updatesThatAreRefusedAreInTheRecordToo() {
        graph.rules(
                group(),
                Alignment.read("{\"rules\":[{\"id\":\"law\",\"on\":\"update\",\"match\":{\"graph\":\"ex:law\"},"
                        + "\"effect\":\"forbid\"}]}"));

        assertThatThrownBy(() -> update(Patch.add(status("ex:p1", "x").in("ex:law"))))
                .isInstanceOf(A2AException.class);
        assertRefused(
                () -> graph.update(Update.of(Patch.add(status("ex:p1", "x"))).with(Map.of("ifRevision", 1)), context),
                KnowledgeError.KNOWLEDGE_UPDATE,
                "conflict");
        assertRefused(() -> sparql("LOAD <http://localhost/>"), KnowledgeError.KNOWLEDGE_UPDATE, "not-supported");
        update(Patch.add(status("ex:p1", "last"))); // rows are written in their order

        assertThat(recorded())
                .extracting(AuditEntry::outcome)
                .containsExactly("ALIGNMENT_VIOLATION", "KNOWLEDGE_UPDATE", "KNOWLEDGE_UPDATE", "Verified");
    }

    @Test
    void aTimeBeyondWhatMillisecondsCountIsAnInvalidParameter() {
        Literal late = new Literal("+999999999-12-31T23:59:59Z", Term.XSD + "dateTime", null);

        assertThatThrownBy(() -> update(Patch.add(Statement.of("ex:p1", "ex:at", late))))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS));
    }

    private static @Nullable Object first(@Nullable Object data, String... names) {
        Object at = data;
        for (String name : names) {
            Object member = ((Map<?, ?>) Objects.requireNonNull(at)).get(name);
            at = member instanceof List<?> list ? list.getFirst() : member;
        }
        return at;
    }

    @Test
    void kg20_tokensInMetadataAreNeverWrittenDown() {
        graph.rules(group(), Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}"));

        graph.update(
                Update.of(Patch.add(status("ex:p1", "active")))
                        .with(Map.of("token", "top-secret", "credentialX", "top-secret")),
                context);

        assertThat(graph.reviews(group(), null, null, 10).items()).hasSize(1);
        assertThat(graph.reviews(group(), null, null, 10).toString()).doesNotContain("top-secret");
        assertThat(recorded()).singleElement().asString().doesNotContain("top-secret");
    }

    @Test
    void kg21_changesOfATaskAreFoundByIt() {
        graph.update(
                Update.of(Patch.add(status("ex:p1", "a")), Patch.add(status("ex:p1", "b")))
                        .forTask("t1"),
                context);
        graph.update(Update.of(Patch.add(status("ex:p1", "c"))).forTask("t2"), context);

        assertThat(graph.changesOf("t1", context)).hasSize(2);
        assertThat(graph.changesOf("t2", context)).hasSize(1);
        assertThat(graph.changesOf("t1", caller("anonymous", "another group"))).isEmpty();
    }

    @Test
    void changesOfAnotherMemberThatNameATaskAreNotThoseOfTheTask() {
        CallContext alice = caller("alice", group());
        CallContext bob = caller("bob", group());
        graph.update(Update.of(Patch.add(status("ex:p1", "a"))).forTask("t1"), alice);
        graph.update(Update.of(Patch.add(status("ex:p1", "b"))).forTask("t1"), bob);

        assertThat(graph.changesOf("t1", alice)).hasSize(1);
        assertThat(graph.changesOf("t1", alice)).doesNotContainAnyElementsOf(graph.changesOf("t1", bob));
        assertThat(graph.changesOf("t1", alice.sharing()))
                .as("a shared task belongs to all members")
                .hasSize(2);
    }

    @Test
    void kg31_aSparqlUpdateIsAnUpdateLikeAnyOther() {
        update(Patch.add(status("ex:p1", "active")));

        UpdateResult result =
                sparql("DELETE { ?s <ex:status> ?o } INSERT { ?s <ex:status> \"done\" } WHERE { ?s <ex:status> ?o }");

        assertThat(result.success()).isTrue();
        assertThat(values("ex:p1")).isEqualTo(nodes("done"));
    }

    // ---- Rules

    private void rules(String... rules) {
        graph.rules(group(), Alignment.read("{\"rules\":[" + String.join(",", rules) + "]}"));
    }

    @Test
    void kg09_rulesDecideWhatBecomesOfAnUpdate() {
        rules(
                "{\"id\":\"r1\",\"on\":\"update\",\"match\":{\"graph\":\"ex:law\"},\"effect\":\"forbid\"}",
                "{\"id\":\"r2\",\"on\":\"update\",\"match\":{\"predicate\":\"ex:salary\"},\"effect\":\"reject\",\"message\":\"no salaries\"}",
                "{\"id\":\"r3\",\"on\":\"update\",\"match\":{\"certaintyBelow\":0.5},\"effect\":\"review\"}",
                "{\"id\":\"r4\",\"on\":\"update\",\"match\":{\"subjectType\":\"ex:Ghost\"},\"effect\":\"redact\"}");
        Statement sure = status("ex:p1", "active").withCertainty(0.9);

        assertThat(update(Patch.add(sure)).verificationStatus()).isEqualTo("Verified");
        assertThat(update(Patch.add(Statement.of("ex:p1", "ex:salary", Literal.of(7)))))
                .isEqualTo(new UpdateResult(
                        false, 0, List.of(), "Rejected - Constraint Violation", "rule r2: no salaries"));
        assertThat(update(Patch.add(status("ex:p1", "maybe").withCertainty(0.2))))
                .satisfies(result -> assertThat(result.success()).isTrue())
                .satisfies(result -> assertThat(result.verificationStatus()).isEqualTo("Pending Review"));
        var ghost =
                new Statement(new Resource("ex:g1", "ex:Ghost"), "ex:status", Literal.of("boo"), null, 0.9, Map.of());
        assertThat(update(Patch.add(ghost)))
                .isEqualTo(
                        new UpdateResult(true, 0, List.of(), "Verified", "1 of the mutations were left out by a rule"));
        assertRefused(
                () -> update(Patch.add(sure), Patch.add(sure.in("ex:law"))),
                KnowledgeError.ALIGNMENT_VIOLATION,
                "forbidden");
        assertThat(values("ex:p1")).isEqualTo(nodes("active"));
    }

    @Test
    void kg09_whatNoRuleAllowsCanBeDenied() {
        graph.rules(
                group(),
                Alignment.read(
                        "{\"otherwise\":\"deny\",\"rules\":[{\"id\":\"r\",\"match\":{\"predicate\":\"ex:status\"},\"effect\":\"allow\"}]}"));

        assertThat(update(Patch.add(status("ex:p1", "active"))).success()).isTrue();
        assertThat(update(Patch.add(Statement.of("ex:p1", "ex:other", Literal.of(1))))
                        .verificationStatus())
                .isEqualTo(Verification.REJECTED_BY_POLICY);
    }

    @Test
    void kg09_shapesSayWhatStatementsHaveToLookLike() {
        graph.shapes(group(), """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
                <ex:ProjectShape> a sh:NodeShape ;
                    sh:targetClass <ex:Project> ;
                    sh:property [ sh:path <ex:budget> ; sh:datatype xsd:integer ; sh:maxCount 1 ; sh:message "one budget" ] .
                """);
        var typed = new Resource("ex:p1", "ex:Project");
        var first = new Statement(typed, "ex:budget", Literal.of(5), null, null, Map.of());
        var second = new Statement(typed, "ex:budget", Literal.of(6), null, null, Map.of());

        assertThat(update(Patch.add(first)).verificationStatus()).isEqualTo("Verified");
        UpdateResult refused = update(Patch.add(status("ex:p1", "active")), Patch.add(second));

        assertThat(refused.success()).isFalse();
        assertThat(refused.verificationStatus()).isEqualTo(Verification.REJECTED_BY_CONSTRAINT);
        assertThat(refused.verificationDetails()).contains("ex:p1", "ex:budget", "one budget");
        assertThat(values("ex:p1")).isEqualTo(nodes());
        assertThat(update(Patch.replace(second)).success()).isTrue();

        graph.shapes(group(), "");
        assertThat(update(Patch.add(first)).success()).isTrue();
    }

    @Test
    void kg09_updatesAtTheSameTimeDoNotBreakShapesTogether() throws Exception {
        graph.shapes(group(), """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:Budget> a sh:NodeShape ;
                    sh:targetSubjectsOf <ex:budget> ;
                    sh:property [ sh:path <ex:budget> ; sh:maxCount 1 ] .
                """);
        int many = 12;
        var results = new ArrayList<Future<UpdateResult>>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < many; i++) {
                Patch same = Patch.add(Statement.of("ex:p1", "ex:budget", Literal.of(i)));
                Patch own = Patch.add(Statement.of("ex:own" + i, "ex:budget", Literal.of(i)));
                results.add(threads.submit(() -> updatePatiently(same)));
                results.add(threads.submit(() -> updatePatiently(own)));
            }
        }

        var same = new ArrayList<String>();
        for (int i = 0; i < 2 * many; i += 2) {
            same.add(results.get(i).get().verificationStatus());
            assertThat(results.get(i + 1).get().success()).isTrue();
        }
        assertThat(same).containsOnlyOnce(Verification.VERIFIED);
        assertThat(same).contains(Verification.REJECTED_BY_CONSTRAINT);
        assertThat(graph.<StatementPage<Fact>>read(
                                context,
                                view -> view.statements(
                                        new Pattern(
                                                List.of(),
                                                List.of("ex:p1"),
                                                List.of(),
                                                List.of(),
                                                List.of(),
                                                List.of(),
                                                null),
                                        null,
                                        10))
                        .items())
                .hasSize(1);
    }

    /** Repeats an update that the limits of a group or of time have refused, as its client would. */
    private UpdateResult updatePatiently(Patch patch) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (true) {
            try {
                return update(patch);
            } catch (A2AException refused) {
                boolean isTemporary =
                        List.of("busy", "timeout").contains(refused.metadata().get("reason"));
                if (!isTemporary || System.nanoTime() > deadline) {
                    throw refused;
                }
            }
        }
    }

    @Test
    void kg09_aCheckCountsWhatIsLoadedMeanwhile() throws Exception {
        graph.shapes(group(), """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:Budget> a sh:NodeShape ;
                    sh:targetSubjectsOf <ex:budget> ;
                    sh:property [ sh:path <ex:budget> ; sh:maxCount 20 ] .
                """);
        int many = 40;
        var results = new ArrayList<Future<UpdateResult>>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < many; i++) {
                Patch update = Patch.add(Statement.of("ex:p1", "ex:budget", Literal.of(i)));
                results.add(threads.submit(() -> update(update)));
            }
            graph.load(
                    IntStream.range(0, 20)
                            .mapToObj(i -> Statement.of("ex:p1", "ex:budget", Literal.of(1_000 + i)))
                            .toList(),
                    context,
                    "file");
            UpdateResult last = update(Patch.add(Statement.of("ex:p1", "ex:budget", Literal.of(-1))));
            assertThat(last.verificationStatus()).isEqualTo(Verification.REJECTED_BY_CONSTRAINT);
        }

        for (Future<UpdateResult> one : results) {
            assertThat(one.get().verificationStatus()).isIn(Verification.VERIFIED, Verification.REJECTED_BY_CONSTRAINT);
        }
    }

    @Test
    void kg10_anUpdateThatWaitsIsInvisibleUntilItIsApproved() throws Exception {
        rules("{\"id\":\"r\",\"on\":\"update\",\"match\":{\"certaintyBelow\":0.5},\"effect\":\"review\"}");
        try (Feed<Change> changes = watch("subscription { knowledgeChanged { op } }", Map.of())) {
            update(Patch.add(status("ex:p1", "maybe").withCertainty(0.2)));
            update(Patch.add(status("ex:p2", "perhaps").withCertainty(0.2)));
            List<Review> waiting =
                    graph.reviews(group(), Review.State.PENDING, null, 10).items();
            assertThat(values("ex:p1")).isNotEqualTo(nodes("maybe"));

            UpdateResult done = graph.approve(waiting.getFirst().id(), "seen it", caller("ann", group()));
            graph.reject(waiting.getLast().id(), "no", caller("ann", group()));

            assertThat(done.verificationStatus()).isEqualTo("Verified");
            assertThat(values("ex:p1")).isEqualTo(nodes("maybe"));
            assertThat(changes.next(SOON))
                    .singleElement()
                    .satisfies(change ->
                            assertThat(change.statement().provenance()).containsEntry("approvedBy", "ann"));
            assertThat(graph.reviews(group(), Review.State.PENDING, null, 10).items())
                    .isEmpty();
            assertThatThrownBy(() -> graph.approve(waiting.getFirst().id(), null, caller("ann", group())))
                    .isInstanceOf(A2AException.class);
        }
    }

    @Test
    void kg19_rulesHideStatementsAndRefuseQuestions() {
        update(
                Patch.add(status("ex:p1", "open")),
                Patch.add(status("ex:p1", "secret").in("ex:hidden")));
        rules(
                "{\"id\":\"r1\",\"on\":\"query\",\"match\":{\"graph\":\"ex:hidden\",\"principal\":\"x\"},\"effect\":\"redact\"}",
                "{\"id\":\"r2\",\"on\":\"query\",\"match\":{\"graph\":\"ex:hidden\"},\"effect\":\"forbid\"}");
        String named = "{ statements(filter:{graphs:[\"ex:hidden\"]}) { nodes { graph } } }";

        QueryResult ofX = graph.query(Query.graphql(named, Map.of()), caller("x", group()));

        assertThat(ofX.data()).isEqualTo(Map.of("statements", Map.of("nodes", List.of())));
        assertThat(ofX.metadata()).containsEntry("sources", List.of());
        assertRefused(
                () -> graph.query(Query.graphql(named, Map.of()), caller("y", group())),
                KnowledgeError.ALIGNMENT_VIOLATION,
                "forbidden");
        assertThat(values("ex:p1")).isEqualTo(nodes("open"));
    }

    // ---- Questions

    @Test
    void kg03_kg05_theAnswerTellsHowItWasFound() {
        update(
                Patch.add(status("ex:p1", "sure").withCertainty(0.9)),
                Patch.add(status("ex:p1", "unsure").withCertainty(0.4)));

        QueryResult result = graph.query(
                Query.graphql("{ statements { nodes { certainty } } }", Map.of())
                        .atLeast(0.8, null),
                context);

        assertThat(result.data()).isEqualTo(Map.of("statements", Map.of("nodes", List.of(Map.of("certainty", 0.9)))));
        assertThat(result.metadata())
                .containsEntry("hiddenByCertainty", 1L)
                .containsEntry("sources", List.of("default"))
                .containsKeys("executionMs", "asOf", "revision", "truncated");
    }

    @Test
    void graphsMaySayHowCertainTheirStatementsAre() {
        update(Patch.add(status("ex:p1", "active").in("ex:g")), Patch.add(status("ex:p1", "other")));

        graph.defaultCertainty(group(), "ex:g", 1.0);

        assertThat(values("ex:p1", query -> query.atLeast(0.8, null))).isEqualTo(nodes("active"));
    }

    @Test
    void kg31_sparqlSeesTheSameFloors() {
        update(
                Patch.add(status("ex:p1", "sure").withCertainty(0.9)),
                Patch.add(status("ex:p2", "unsure").withCertainty(0.4)));

        QueryResult result = graph.query(
                Query.sparql("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }").atLeast(0.8, null), context);

        assertThat(result.data()).asString().contains("value=1");
        assertThat(result.metadata()).containsEntry("hiddenByCertainty", 1L);
    }

    @Test
    @Tag("records")
    void remarksWithTheCharacterNulComeBackAndAreErasedWithTheirAuthor() {
        var author = caller("alice", group());
        String remark = "\0a\0\0b\\u0000\\\0";
        assertThatThrownBy(() -> graph.query(Query.graphql("{ entity(id: \"ex:\0\") { id } }", Map.of()), author))
                .isInstanceOf(RuntimeException.class);
        graph.update(
                Update.of(Patch.add(status("ex:p1", "active").withProvenance(Map.of("from", remark))))
                        .saying(null, remark),
                author);

        assertThat(graph.<List<Fact>>read(
                        context, view -> view.statements(Pattern.ALL, null, 10).items()))
                .singleElement()
                .satisfies(fact -> assertThat(fact.statement().provenance())
                        .containsEntry("from", remark)
                        .containsEntry("justification", remark)
                        .containsEntry("recordedBy", "alice"));
        assertThat(graph.queriesOf(group(), "alice", 0, 10)).isNotEmpty();

        assertThat(graph.erase("alice", false, operator()).rows()).isPositive();

        assertThat(graph.queriesOf(group(), "alice", 0, 10)).isEmpty();
        assertThat(graph.<List<Fact>>read(
                        context, view -> view.statements(Pattern.ALL, null, 10).items()))
                .singleElement()
                .satisfies(fact -> assertThat(fact.statement().provenance())
                        .containsEntry("recordedBy", AuditChain.hashed("alice"))
                        .doesNotContainEntry("justification", remark));
        graph.unlink(List.of(remark), operator());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u0000b", "\uD800", "\uDC00\uD800"})
    void whatIsNoTextIsRefusedAsSuch(String wrong) {
        update(Patch.add(status("ex:p1", "active")));
        String escaped = wrong.chars()
                .mapToObj(c -> c < ' ' || c >= 0xD800 ? String.format("\\u%04X", c) : Character.toString(c))
                .collect(Collectors.joining());

        assertThatThrownBy(() -> Literal.of(wrong)).isInstanceOf(InvalidField.class);
        assertThatThrownBy(() -> Resource.of(wrong)).isInstanceOf(InvalidField.class);
        for (Query query : List.of(
                Query.graphql("query($id: ID!) { entity(id: $id) { id } }", Map.of("id", wrong)),
                Query.graphql("{ entity(id: \"" + escaped + "\") { id } }", Map.of()),
                Query.graphql("{ entity(id: \"" + wrong + "\") { id } }", Map.of()),
                Query.sparql("SELECT ?s { ?s ?p \"" + escaped + "\" }"),
                Query.sparql("SELECT ?s { ?s ?p \"" + wrong + "\" }"),
                Query.sparql("SELECT ?s { ?s ?p ?o FILTER(?o = \"" + escaped + "\") }"))) {
            try {
                assertThat(String.valueOf(graph.query(query, context).data())).doesNotContain("ex:p1");
            } catch (A2AException refused) {
                assertThat(refused.error()).isIn(KnowledgeError.KNOWLEDGE_QUERY, A2AError.INVALID_PARAMS);
                assertThat(String.valueOf(refused.metadata())).doesNotContain("store");
            }
        }
        for (Update update : List.of(
                Update.of(Patch.add(status("ex:p2", "x"))).forTask(wrong),
                Update.of(Patch.add(status("ex:p2", "x"))).saying(wrong, "fine"),
                Update.of(Patch.add(status("ex:p2", "x"))).saying("fine", wrong),
                Update.of(Patch.add(status("ex:p2", "x"))).with(Map.of("idempotencyKey", wrong)),
                Update.of(Patch.add(status("ex:p2", "x").withProvenance(Map.of("from", wrong)))))) {
            try {
                assertThat(graph.update(update, context).success()).isTrue();
            } catch (A2AException refused) {
                assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS);
            }
        }
        assertThat(graph.query(Query.graphql("{ entity(id: \"ex:p1\") { id } }", Map.of()), context)
                        .data())
                .isNotNull();
    }

    @Test
    @Tag("records")
    void kg32_eachCallIsRecordedOnceQueriesInTheirLogAndUpdatesInTheAudit() {
        graph.query(Query.graphql("{ graphs { name } }", Map.of()), context);
        assertThatThrownBy(() -> graph.query(Query.graphql("{ unknown }", Map.of()), context))
                .isInstanceOf(A2AException.class);
        update(Patch.add(status("ex:p1", "later than the question")));

        assertThat(graph.queries(group(), 0, 10))
                .extracting(LoggedQuery::operation, LoggedQuery::outcome)
                .containsExactly(tuple("knowledge/query", "ok"), tuple("knowledge/query", "KNOWLEDGE_QUERY"));
        assertThat(recorded()).extracting(AuditEntry::outcome).containsExactly("Verified");
    }

    @Test
    @Tag("records")
    @DisplayName("D4, KG21 the task and the session that a query or a subscription names are in its record")
    void taskAndSessionOfAQueryAreRecorded() {
        graph.query(
                new Query("{ graphs { name } }", Query.GRAPHQL, Map.of(), null, null, "t-1", "s-1", Map.of()), context);
        graph.subscribe(
                        new Subscribe(
                                "subscription { knowledgeChanged { changeId } }",
                                Query.GRAPHQL,
                                Map.of(),
                                null,
                                "s-2",
                                Map.of()),
                        context)
                .close();
        update(Patch.add(status("ex:p1", "later than the queries")));

        assertThat(graph.queries(group(), 0, 10))
                .extracting(
                        query -> query.detail().get("taskId"),
                        query -> query.detail().get("sessionId"))
                .containsExactly(tuple("t-1", "s-1"), tuple(null, "s-2"));
    }

    // ---- Watching

    private Feed<Change> watch(String query, Map<String, @Nullable Object> metadata) {
        return graph.subscribe(Subscribe.graphql(query, Map.of()).with(metadata), context);
    }

    private static final String STATUS =
            "subscription { knowledgeChanged(filter:{predicates:[\"ex:status\"]}) { op } }";

    @Test
    void kg14_kg15_whoWatchesSeesWhatFitsInTheOrderOfCommits() throws Exception {
        try (Feed<Change> changes = watch(STATUS, Map.of())) {
            update(Patch.add(status("ex:p1", "one")), Patch.add(Statement.of("ex:p1", "ex:other", Literal.of(1))));
            update(Patch.replace(status("ex:p1", "two")));
            update(Patch.remove(status("ex:p1", "two")));

            List<Change> seen = some(changes, 3);

            assertThat(seen).extracting(Change::op).containsExactly(Patch.Op.ADD, Patch.Op.REPLACE, Patch.Op.REMOVE);
            assertThat(seen.get(1).metadata()).containsEntry("replaced", List.of(Map.of("value", "one")));
            assertThat(seen.get(0).timestamp()).isEqualTo(clock.now);
            assertThat(changes.next(Duration.ofMillis(1))).isEmpty();
        }
    }

    private static List<Change> some(Feed<Change> changes, int wanted) throws InterruptedException {
        var seen = new ArrayList<Change>();
        while (seen.size() < wanted) {
            List<Change> news = changes.next(SOON);
            assertThat(news).isNotEmpty();
            seen.addAll(Objects.requireNonNull(news));
        }
        return seen;
    }

    @Test
    void aReaderThatComesBackHasMissedNothing() throws Exception {
        String last;
        try (Feed<Change> changes = watch(STATUS, Map.of())) {
            update(Patch.add(status("ex:p1", "one")));
            last = some(changes, 1).getFirst().changeId();
        }
        for (int i = 0; i < 300; i++) {
            update(Patch.add(status("ex:p1", "n" + i)));
        }

        try (Feed<Change> changes = watch(STATUS, Map.of("afterChangeId", last))) {
            update(Patch.add(status("ex:p1", "end")));

            List<Change> seen = some(changes, 301);

            assertThat(seen).hasSize(301).extracting(Change::changeId).doesNotHaveDuplicates();
            assertThat(seen.getLast().statement().object()).isEqualTo(Literal.of("end"));
        }
        assertThatThrownBy(() -> watch(STATUS, Map.of("afterChangeId", "no such change")))
                .isInstanceOf(A2AException.class);
    }

    @Test
    void aReaderThatSawNothingHasMissedNothing() throws Exception {
        String begin;
        try (Feed<Change> changes = watch(STATUS, Map.of())) {
            begin = Objects.requireNonNull(changes.position());
        }
        update(Patch.add(status("ex:p1", "one")));

        try (Feed<Change> changes = watch(STATUS, Map.of("afterChangeId", begin))) {
            assertThat(some(changes, 1).getFirst().statement().object()).isEqualTo(Literal.of("one"));
            assertThat(changes.position()).isEqualTo(begin);
        }
    }

    @Test
    void whatIsThereCanBeSeenFirst() throws Exception {
        update(Patch.add(status("ex:p1", "there")));

        try (Feed<Change> changes = watch(STATUS, Map.of("snapshot", true))) {
            update(Patch.add(status("ex:p1", "new")));

            List<Change> seen = some(changes, 2);

            assertThat(seen)
                    .extracting(change -> change.statement().object())
                    .containsExactly(Literal.of("there"), Literal.of("new"));
            assertThat(seen.getFirst().metadata()).containsEntry("snapshot", true);
        }
    }

    @Test
    void kg16_aBadSubscriptionIsRefused() {
        assertThatThrownBy(() -> watch("{ graphs { name } }", Map.of()))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refused -> assertThat(refused.error()).isEqualTo(KnowledgeError.KNOWLEDGE_SUBSCRIPTION));
    }

    @Test
    void kg17_whoMayNotWatchAnyMoreIsTold() throws Exception {
        try (Feed<Change> changes = watch(STATUS, Map.of())) {
            update(Patch.add(status("ex:p1", "one")));
            some(changes, 1);

            rules("{\"id\":\"r\",\"on\":\"subscribe\",\"effect\":\"forbid\"}");

            assertRefused(
                    () -> {
                        try {
                            changes.next(SOON);
                        } catch (InterruptedException stopped) {
                            throw new AssertionError(stopped);
                        }
                    },
                    KnowledgeError.KNOWLEDGE_SUBSCRIPTION,
                    "revoked");
            assertThat(changes.next(SOON)).isNull();
        }
    }

    @Test
    void nobodyWatchesWithoutEnd() {
        var open = new ArrayList<Feed<Change>>();
        try {
            for (int i = 0; i < 100; i++) {
                open.add(watch(STATUS, Map.of()));
            }

            assertRefused(() -> watch(STATUS, Map.of()), KnowledgeError.KNOWLEDGE_SUBSCRIPTION, "quota");

            open.removeFirst().close();
            open.add(watch(STATUS, Map.of()));
        } finally {
            open.forEach(Feed::close);
        }
    }

    @Test
    void aReaderWakesWhenItIsClosed() throws Exception {
        Feed<Change> changes = watch(STATUS, Map.of());
        Thread closer = Thread.ofVirtual().start(changes::close);

        assertThat(changes.next(SOON)).isNull();

        closer.join();
    }

    @Test
    void whatIsHiddenCannotBeCopiedToWhereItIsSeen() {
        update(Patch.add(Statement.of("ex:ann", "ex:salary", Literal.of(7)).in("ex:hr")));
        rules("{\"id\":\"r\",\"on\":\"query\",\"match\":{\"predicate\":\"ex:salary\"},\"effect\":\"redact\"}");

        UpdateResult result = sparql("INSERT { ?s <ex:copy> ?o } WHERE { GRAPH ?g { ?s ?p ?o } }");

        assertThat(result.statementsAffected()).isZero();
    }

    private static Statement salary(int value) {
        return Statement.of("ex:lee", "ex:salary", Literal.of(value)).in("ex:hr");
    }

    private static UpdateResult done(int statements) {
        return new UpdateResult(true, statements, statements == 0 ? List.of() : List.of("ex:lee"), "Verified", null);
    }

    @Test
    void kg19_whatIsHiddenCannotBeGuessed() {
        Statement note = Statement.of("ex:lee", "ex:note", Literal.of("x")).in("ex:hr");
        update(Patch.add(salary(7)), Patch.add(note));
        rules(
                "{\"id\":\"r\",\"on\":\"query\",\"match\":{\"predicate\":\"ex:salary\",\"principal\":\"ben\"},\"effect\":\"redact\"}");
        CallContext ann = context;
        context = caller("ben", group());

        assertThat(update(Patch.remove(salary(6)))).isEqualTo(done(0));
        assertThat(update(Patch.remove(salary(7)))).isEqualTo(done(0));
        assertThat(update(Patch.replace(salary(5)))).isEqualTo(done(1));
        assertThat(update(Patch.add(salary(7)))).isEqualTo(done(1));
        assertThat(sparql("DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }"))
                .isEqualTo(done(1));

        context = ann;
        assertThat(update(Patch.remove(note))).isEqualTo(done(0));
        assertThat(update(Patch.remove(salary(5)), Patch.remove(salary(7)))).isEqualTo(done(2));
    }

    @Test
    void whatIsHiddenIsNotSaidAgainUnnoticed() {
        rules("{\"id\":\"r\",\"on\":\"query\",\"match\":{\"graph\":\"ex:hr\"},\"effect\":\"redact\"}");

        assertThat(update(Patch.add(salary(7)))).isEqualTo(done(1));
        Object before = revision();
        assertThat(update(Patch.add(salary(7)))).isEqualTo(done(1));
        assertThat(revision()).isNotEqualTo(before);
    }

    private @Nullable Object revision() {
        return graph.query(Query.sparql("ASK {}"), context).metadata().get("revision");
    }

    @Test
    void whatSomebodyElseHasSaidUnseenOutlivesWhatIsSaidOverIt() throws Exception {
        rules("{\"id\":\"r\",\"on\":\"query\",\"match\":{\"sourceAgent\":\"" + hers("alice")
                + "\",\"principal\":\"ben\"},\"effect\":\"redact\"}");
        graph.update(Update.of(Patch.add(status("ex:lee", "here").withCertainty(0.9))), alice());
        CallContext ann = context;
        CallContext carl = caller("carl", group());

        try (Feed<Change> changes = watch(STATUS, Map.of())) {
            context = carl;
            update(Patch.add(status("ex:lee", "here").withCertainty(0.2)));
            context = caller("ben", group());
            update(Patch.add(status("ex:lee", "here").withCertainty(0.1)));
            UpdateResult first = update(Patch.remove(status("ex:lee", "here")));
            UpdateResult again = update(Patch.remove(status("ex:lee", "here")));

            assertThat(first).isEqualTo(done(1));
            assertThat(again).isEqualTo(done(0));
            assertThat(some(changes, 4))
                    .extracting(Change::op, change -> change.statement().certainty())
                    .containsExactly(
                            tuple(Patch.Op.ADD, 0.2),
                            tuple(Patch.Op.ADD, 0.1),
                            tuple(Patch.Op.REMOVE, null),
                            tuple(Patch.Op.ADD, 0.9));
        }
        context = ann;
        assertThat(values("ex:lee", query -> query.atLeast(0.9, null))).isEqualTo(nodes("here"));
        assertThat(graph.saidBy(group(), "carl", null, 10).items()).isEmpty();
    }

    @Test
    void aTypeAmongVeryManyDecidesAsWell() {
        var types = new ArrayList<Statement>();
        for (int i = 0; i <= 1_000; i++) {
            types.add(Statement.of("ex:lee", "rdf:type", Resource.of("ex:T" + i)));
        }
        graph.load(types, context, null);
        rules("{\"id\":\"r\",\"on\":\"update\",\"match\":{\"subjectType\":\"ex:T1000\"},\"effect\":\"reject\"}");

        assertThat(update(Patch.add(status("ex:lee", "here"))).success()).isFalse();
    }

    @Test
    void aHiddenTypeThatIsOnlyMentionedStays() {
        var suspect = new Resource("ex:lee", "ex:Suspect");
        update(Patch.add(new Statement(suspect, "ex:status", Literal.of("here"), null, null, Map.of())));
        rules(
                "{\"id\":\"r\",\"on\":\"query\",\"match\":{\"predicate\":\"rdf:type\",\"principal\":\"ben\"},\"effect\":\"redact\"}");

        graph.update(
                Update.of(Patch.remove(Statement.of("ex:lee", "rdf:type", Resource.of("ex:Suspect")))),
                caller("ben", group()));

        Map<String, Set<String>> types = graph.read(context, view -> view.types(List.of("ex:lee")));
        assertThat(types).containsEntry("ex:lee", Set.of("ex:Suspect"));
    }

    @Test
    void whatIsSeenByItsTypeIsTakenBackWithIt() {
        Statement type = Statement.of("ex:lee", "rdf:type", Resource.of("ex:Person"));
        Statement here = status("ex:lee", "here");
        update(Patch.add(type), Patch.add(here));
        graph.rules(
                group(),
                Alignment.read(
                        "{\"otherwise\":\"deny\",\"rules\":[{\"id\":\"r1\",\"match\":{\"subjectType\":\"ex:Person\"},"
                                + "\"effect\":\"allow\"},{\"id\":\"r2\",\"on\":\"update\",\"effect\":\"allow\"}]}"));

        assertThat(update(Patch.remove(type), Patch.remove(here))).isEqualTo(done(2));
    }

    @Test
    void kg19_aRefusalTellsNothingOfWhatIsHidden() {
        graph.shapes(group(), """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                @prefix ex: <ex:> .
                ex:Pay a sh:NodeShape ; sh:targetClass ex:Employee ;
                    sh:property [ sh:path ex:bonus ; sh:lessThan ex:salary ; sh:maxCount 2 ] .
                """);
        Statement type = Statement.of("ex:lee", "rdf:type", Resource.of("ex:Employee"));
        update(Patch.add(type), Patch.add(salary(73_219)));
        rules(
                "{\"id\":\"r\",\"on\":\"query\",\"match\":{\"predicate\":\"ex:salary\",\"principal\":\"ben\"},\"effect\":\"redact\"}");
        Patch bonus = Patch.add(Statement.of("ex:lee", "ex:bonus", Literal.of(99_999)));
        CallContext ann = context;
        context = caller("ben", group());

        UpdateResult told = update(bonus);
        context = ann;

        assertThat(told.verificationStatus()).isEqualTo(Verification.REJECTED_BY_CONSTRAINT);
        assertThat(told.verificationDetails())
                .isEqualTo(
                        "ex:lee ex:bonus: sh:LessThanConstraintComponent, by statements that are hidden (shape ex:Pay)");
        assertThat(update(bonus).verificationDetails()).contains("99999 is not less than 73219");
    }

    @Test
    void aTypeThatIsOnlyMentionedIsJudgedToo() {
        rules(
                "{\"id\":\"r1\",\"on\":\"update\",\"match\":{\"predicate\":\"rdf:type\"},\"effect\":\"reject\"}",
                "{\"id\":\"r2\",\"on\":\"update\",\"match\":{\"subjectType\":\"ex:Draft\"},\"effect\":\"allow\"}",
                "{\"id\":\"r3\",\"on\":\"update\",\"match\":{\"predicate\":\"ex:law\"},\"effect\":\"reject\"}");
        var draft = new Resource("ex:p1", "ex:Draft");

        assertThat(update(Patch.add(new Statement(draft, "ex:status", Literal.of("x"), null, null, Map.of())))
                        .success())
                .isFalse();
        assertThat(update(Patch.remove(new Statement(draft, "ex:law", Literal.of("x"), null, null, Map.of())))
                        .verificationDetails())
                .isEqualTo("rule r3");
    }

    @Test
    void whatWasReplacedIsShownToThoseWhoMaySeeIt() throws Exception {
        update(Patch.add(status("ex:p1", "a guess").withCertainty(0.2)));
        rules(
                "{\"id\":\"r\",\"on\":[\"query\",\"subscribe\"],\"match\":{\"certaintyBelow\":0.5},\"effect\":\"redact\"}");

        try (Feed<Change> changes = watch(STATUS, Map.of())) {
            update(Patch.replace(status("ex:p1", "sure").withCertainty(0.9)));

            assertThat(some(changes, 1).getFirst().metadata()).doesNotContainKey("replaced");
        }
        assertThat(graph.query(Query.graphql("{ changes { nodes { metadata } } }", Map.of()), context)
                        .data())
                .asString()
                .doesNotContain("a guess");
    }

    @Test
    void aChangeIsJudgedByTheTypesOfItsTime() throws Exception {
        rules(
                "{\"id\":\"r\",\"on\":[\"query\",\"subscribe\"],\"match\":{\"subjectType\":\"ex:Suspect\",\"principal\":\"eve\"},\"effect\":\"redact\"}");
        CallContext ann = context;
        CallContext eve = caller("eve", group());
        Statement type = Statement.of("ex:x", "rdf:type", Resource.of("ex:Suspect"));
        Statement here = status("ex:x", "here");

        try (Feed<Change> live = graph.subscribe(Subscribe.graphql(STATUS, Map.of()), eve)) {
            update(Patch.add(here), Patch.add(type));
            update(Patch.remove(type), Patch.remove(here));
            update(Patch.add(status("ex:x", "no suspect")));

            assertThat(some(live, 1))
                    .extracting(change -> change.statement().object())
                    .containsExactly(Literal.of("no suspect"));
            context = eve;
            try (Feed<Change> later = watch(STATUS, Map.of("afterChangeId", Objects.requireNonNull(live.position())))) {
                assertThat(some(later, 1))
                        .extracting(change -> change.statement().object())
                        .containsExactly(Literal.of("no suspect"));
            }
        }
        String changes = "{ changes { nodes { statement { object { value } } } } }";
        assertThat(graph.query(Query.graphql(changes, Map.of()), eve).data())
                .asString()
                .doesNotContain("here");
        assertThat(graph.query(Query.graphql(changes, Map.of()), ann).data())
                .asString()
                .contains("here");
    }

    @Test
    void hiddenTypesAreNotFoundByThem() {
        update(
                Patch.add(Statement.of("ex:ann", "rdf:type", Resource.of("ex:Suspect"))),
                Patch.add(status("ex:ann", "here")));
        rules("{\"id\":\"r\",\"on\":\"query\",\"match\":{\"predicate\":\"rdf:type\"},\"effect\":\"redact\"}");

        QueryResult found = graph.query(
                Query.graphql(
                        "{ statements(filter:{subjectTypes:[\"ex:Suspect\"]}) { nodes { predicate } } }", Map.of()),
                context);
        QueryResult graphs = graph.query(Query.graphql("{ graphs { statements } }", Map.of()), context);

        assertThat(found.data()).isEqualTo(Map.of("statements", Map.of("nodes", List.of())));
        assertThat(graphs.data()).asString().contains("statements=1");
        assertThat(graph.schema(context)).doesNotContain("Suspect");
    }

    @Test
    void kg19_whoWatchesIsToldNoHiddenTypes() throws Exception {
        update(Patch.add(Statement.of("ex:ann", "rdf:type", Resource.of("ex:Suspect"))));
        rules(
                "{\"id\":\"r\",\"on\":[\"query\",\"subscribe\"],\"match\":{\"predicate\":\"rdf:type\"},\"effect\":\"redact\"}");
        var lee = new Resource("ex:lee", "ex:Suspect");
        var bob = new Resource("ex:bob", "ex:Suspect");

        try (Feed<Change> suspects = watch(
                        "subscription { knowledgeChanged(filter:{subjectTypes:[\"ex:Suspect\"]}) { op } }", Map.of());
                Feed<Change> all = watch("subscription { knowledgeChanged { op } }", Map.of())) {
            update(
                    Patch.add(status("ex:ann", "here")),
                    Patch.add(new Statement(lee, "ex:knows", bob, null, null, Map.of())));

            assertThat(some(all, 2).toString()).contains("here", "ex:bob").doesNotContain("Suspect");
            assertThat(suspects.next(Duration.ofMillis(1))).isEmpty();
        }
        assertThat(graph.query(
                                Query.graphql("{ changes { nodes { statement { subject { types } } } } }", Map.of()),
                                context)
                        .toString())
                .doesNotContain("Suspect");
    }

    @Test
    void kg19_whatIsHiddenIsTakenBackUnnoticed() throws Exception {
        String before = graph.read(context, view -> ((GraphView) view).space().changeId(view.revision()));
        rules("{\"id\":\"r\",\"on\":[\"query\",\"subscribe\"],\"match\":{\"sourceAgent\":\"" + hers("alice")
                + "\",\"principal\":\"eve\"},\"effect\":\"redact\"}");
        graph.update(Update.of(Patch.add(status("ex:p1", "hers"))), alice());
        CallContext bob = caller("bob", group());
        context = caller("eve", group());

        try (Feed<Change> live = watch(STATUS, Map.of())) {
            graph.update(Update.of(Patch.remove(status("ex:p1", "hers")), Patch.add(status("ex:p1", "his"))), bob);

            assertThat(some(live, 1).toString()).contains("his").doesNotContain("hers");
        }
        try (Feed<Change> later = watch(STATUS, Map.of("afterChangeId", before))) {
            assertThat(some(later, 1).toString()).contains("his").doesNotContain("hers");
        }
        context = bob;
        try (Feed<Change> all = watch(STATUS, Map.of("afterChangeId", before))) {
            assertThat(some(all, 3))
                    .extracting(Change::op)
                    .containsExactly(Patch.Op.ADD, Patch.Op.REMOVE, Patch.Op.ADD);
        }
    }

    @Test
    void anUpdateIsApprovedOnce() throws Exception {
        rules("{\"id\":\"r\",\"on\":\"update\",\"effect\":\"review\"}");
        update(Patch.replace(status("ex:p1", "one")));
        String id = graph.reviews(group(), null, null, 1).items().getFirst().id();
        var done = new AtomicInteger();

        var reviewers = new ArrayList<Thread>();
        for (int i = 0; i < 8; i++) {
            boolean approves = i % 2 == 0;
            reviewers.add(Thread.ofVirtual().start(() -> {
                try {
                    if (approves) {
                        graph.approve(id, null, context);
                    } else {
                        graph.reject(id, null, context);
                    }
                    done.incrementAndGet();
                } catch (A2AException decided) {
                    assertThat(decided.error()).isEqualTo(A2AError.INVALID_PARAMS);
                }
            }));
        }
        for (Thread reviewer : reviewers) {
            reviewer.join();
        }

        assertThat(done).hasValue(1);
        boolean approved =
                graph.reviews(group(), null, null, 1).items().getFirst().state() == Review.State.APPROVED;
        assertThat(trail.rows(new Filter(group(), null, "knowledge.approved", null, null, null), 0, 100).stream()
                        .anyMatch(row -> row.entry().outcome().equals("Verified")))
                .isEqualTo(approved);
    }

    @Test
    void aReaderWaitsQuietlyThoughOtherGroupsChange() throws Exception {
        CallContext other = caller("anonymous", group() + "-other");
        graph.update(Update.of(Patch.add(status("ex:p1", "elsewhere"))), other);

        try (Feed<Change> changes = watch(STATUS, Map.of())) {
            long before = threadTime();
            assertThat(changes.next(Duration.ofMillis(300))).isEmpty();

            assertThat(Duration.ofNanos(threadTime() - before)).isLessThan(Duration.ofMillis(150));
        }
    }

    private static long threadTime() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    @Test
    void typesAreKnownToFilters() throws Exception {
        try (Feed<Change> changes =
                watch("subscription { knowledgeChanged(filter:{subjectTypes:[\"ex:Project\"]}) { op } }", Map.of())) {
            update(Patch.add(status("ex:p0", "no type")));
            update(Patch.add(new Statement(
                    new Resource("ex:p1", "ex:Project"), "ex:status", Literal.of("typed"), null, null, Map.of())));
            update(Patch.add(status("ex:p1", "typed before")));

            assertThat(some(changes, 2))
                    .extracting(change -> change.statement().object())
                    .containsExactly(Literal.of("typed"), Literal.of("typed before"));
        }
    }

    @Test
    void manyStatementsAreLoadedAtOnce() {
        var batch = new ArrayList<Statement>();
        for (int i = 0; i < 1_000; i++) {
            batch.add(status("ex:p" + i, "loaded"));
        }

        assertThat(graph.load(batch, context, "file")).isEqualTo(1_000);
        assertThat(graph.load(batch, context, "file")).isZero();
        assertThat(values("ex:p500")).isEqualTo(nodes("loaded"));
    }

    @Test
    void kg04_anAgeThatNothingHasReachedHidesNothing() {
        update(Patch.add(status("ex:p1", "active")));

        assertThat(values(
                        "ex:p1",
                        query -> new Query(
                                query.query(),
                                query.language(),
                                query.variables(),
                                null,
                                Duration.ofSeconds(Long.MAX_VALUE),
                                null,
                                null,
                                Map.of())))
                .isEqualTo(nodes("active"));
    }

    // ---- Whose data it is

    private CallContext alice() {
        return caller(hers("alice"), group());
    }

    /** Of this test alone, for the database is that of all. */
    private String hers(String what) {
        return what + "-" + group();
    }

    private CallContext operator() {
        return caller("operator", group());
    }

    /** All that is in the tables of the graph. */
    String tables() {
        var all = new StringBuilder();
        database.read(session -> {
            for (String table : List.of(
                    "statement",
                    "assertion",
                    "provenance",
                    "change",
                    "task",
                    "review",
                    "audit",
                    "key",
                    "setting",
                    "remote",
                    "term")) {
                try (var rows = session.bind("SELECT * FROM kg_" + table).executeQuery()) {
                    while (rows.next()) {
                        all.append('\n').append(table);
                        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
                            all.append(' ').append(rows.getString(i));
                        }
                    }
                }
            }
            return all;
        });
        return all.toString();
    }

    @Test
    void whoIsErasedIsNamedNowhere() throws InterruptedException {
        rules("{\"id\":\"look\",\"on\":\"update\",\"match\":{\"graph\":\"ex:law\"},\"effect\":\"review\"}");
        String before = graph.read(context, view -> ((GraphView) view).space().changeId(view.revision()));
        graph.update(
                Update.of(
                                Patch.add(status("ex:p1", "active")
                                        .withProvenance(
                                                Map.of("log", "as " + hers("alice") + " saw it", "recordedBy", "me"))),
                                Patch.add(status("ex:p2", "active")))
                        .saying(null, hers("alice") + " was there")
                        .with(Map.of("idempotencyKey", hers("alice") + "-1")),
                alice());
        graph.update(Update.of(Patch.replace(status("ex:p2", "done"))), caller("bob", group()));
        graph.update(Update.of(Patch.add(status("ex:p1", "active"))), caller("bob", group()));
        graph.update(Update.of(Patch.add(status("ex:p3", "law").in("ex:law"))), alice());
        graph.query(Query.sparql("SELECT * { ?s ?p \"" + hers("alice") + "\" }"), alice());
        assertThat(tables()).contains(hers("alice"));

        Graph.Erased erased = graph.erase(hers("alice"), false, operator());

        assertThat(erased.statements()).isZero();
        assertThat(erased.rows()).isPositive();
        assertThat(tables()).doesNotContain(hers("alice")).contains(AuditChain.hashed(hers("alice")));
        assertThat(values("ex:p1")).isEqualTo(nodes("active"));
        assertThat(values("ex:p2")).isEqualTo(nodes("done"));
        assertThat(graph.reviews(group(), null, null, 10).items()).isEmpty();
        try (Feed<Change> changes = graph.subscribe(
                Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of())
                        .with(Map.of("afterChangeId", before)),
                context)) {
            List<Change> seen = Objects.requireNonNull(changes.next(SOON));
            assertThat(seen).hasSize(4);
            assertThat(seen.toString()).doesNotContain(hers("alice")).contains(AuditChain.hashed(hers("alice")));
        }
        assertThat(graph.erase(hers("alice"), true, operator())).isEqualTo(new Graph.Erased(0, 0));
    }

    @Test
    void whatWhoIsErasedHasChosenIsHashed() {
        String agent = hers("ann.smith@home");
        String task = hers("ann, phone 555");
        var update = new Update(
                List.of(Patch.add(status("ex:p1", "active")
                        .withProvenance(Map.of(
                                "transactionId", hers("her transaction"),
                                "verificationStatus", hers("her status"))))),
                null,
                agent,
                null,
                task,
                null,
                Map.of());
        graph.update(update, alice());
        graph.update(update, caller("bob", group()));
        List<String> made = graph.changesOf(task, context.sharing());

        graph.erase(hers("alice"), false, operator());

        assertThat(tables())
                .contains(AuditChain.hashed(agent), AuditChain.hashed(task))
                .contains("bob", agent, task); // which he has told himself
        assertThat(graph.changesOf(task, context.sharing())).hasSize(2).isEqualTo(made);
        graph.erase("bob", false, operator());
        assertThat(tables()).doesNotContain(agent, task, hers("her transaction"), hers("her status"));
        graph.unlink(List.of(task), operator());
        assertThat(graph.changesOf(task, context.sharing())).isEmpty();
        assertThat(tables()).doesNotContain(AuditChain.hashed(task));
    }

    @Test
    void whatComesFromSomebodyStaysHiddenWhenTheirNameIsGone() {
        rules("{\"id\":\"r\",\"on\":\"query\",\"match\":{\"sourceAgent\":\"" + hers("alice")
                + "\"},\"effect\":\"redact\"}");
        graph.update(Update.of(Patch.add(status("ex:p1", "hidden"))), alice());

        Object nothing = values("ex:p1");
        graph.erase(hers("alice"), false, operator());

        assertThat(values("ex:p1")).isEqualTo(nothing);
        graph.update(Update.of(Patch.add(status("ex:p1", "hidden as well"))), alice());
        assertThat(values("ex:p1")).isEqualTo(nothing);
    }

    @Test
    void whatSomebodyAloneHasSaidIsTakenBackAndSeenToGo() throws InterruptedException {
        CallContext bob = caller("bob", group());
        String before = graph.read(context, view -> ((GraphView) view).space().changeId(view.revision()));
        graph.update(Update.of(Patch.add(status("ex:p1", hers("secret")).withCertainty(0.5))), alice());
        graph.update(Update.of(Patch.add(status("ex:p2", "ours").withCertainty(0.4))), bob);
        graph.update(Update.of(Patch.add(status("ex:p2", "ours").withCertainty(0.9))), alice());
        graph.update(Update.of(Patch.add(status("ex:p3", "his").withCertainty(0.2))), alice());
        graph.update(Update.of(Patch.add(status("ex:p3", "his").withCertainty(0.3))), bob);
        assertThat(graph.saidBy(group(), hers("alice"), null, 10).items())
                .extracting(said -> said.subject().id(), Statement::certainty)
                .containsExactly(tuple("ex:p1", 0.5), tuple("ex:p2", 0.9), tuple("ex:p3", 0.2));

        try (Feed<Change> changes =
                graph.subscribe(Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of()), context)) {
            Graph.Erased erased = graph.erase(hers("alice"), true, operator());

            assertThat(erased.statements()).isEqualTo(2);
            assertThat(values("ex:p1")).isEqualTo(Collections.singletonMap("entity", null));
            assertThat(values("ex:p2")).isEqualTo(nodes("ours"));
            assertThat(graph.saidBy(group(), "bob", null, 10).items())
                    .extracting(said -> said.subject().id(), Statement::certainty)
                    .containsExactly(tuple("ex:p2", 0.4), tuple("ex:p3", 0.3));
            assertThat(graph.saidBy(group(), hers("alice"), null, 10).items()).isEmpty();
            assertThat(tables()).doesNotContain(hers("secret"), hers("alice"));
        }
        assertRefused(
                () -> graph.subscribe(
                        Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of())
                                .with(Map.of("afterChangeId", before)),
                        context),
                KnowledgeError.KNOWLEDGE_SUBSCRIPTION,
                "expired");
        update(Patch.add(status("ex:p1", hers("secret"))));
        assertThat(values("ex:p1")).isEqualTo(nodes(hers("secret")));
    }

    @Test
    void whatWasDoneForATaskThatIsErasedIsLinkedToItNoMore() {
        graph.update(
                new Update(
                        List.of(Patch.add(status("ex:p1", "active"))),
                        null,
                        null,
                        null,
                        hers("task"),
                        hers("context"),
                        Map.of()),
                alice());

        graph.unlink(List.of(hers("task")), operator());
        graph.unlink(List.of(hers("context")), operator());

        assertThat(graph.changesOf(hers("task"), context)).isEmpty();
        assertThat(tables()).doesNotContain(hers("task"), hers("context"));
        assertThat(values("ex:p1")).isEqualTo(nodes("active"));
    }

    @Test
    @Tag("records")
    void whatIsHeldOfSomebodyIsShown() {
        rules("{\"id\":\"look\",\"on\":\"update\",\"match\":{\"graph\":\"ex:law\"},\"effect\":\"review\"}");
        graph.query(Query.graphql("{ graphs { name } }", Map.of()), alice());
        graph.query(Query.graphql("{ graphs { name } }", Map.of()), context);
        graph.update(Update.of(Patch.add(status("ex:p1", "one")), Patch.add(status("ex:p2", "two"))), alice());
        graph.update(Update.of(Patch.add(status("ex:p3", "law").in("ex:law"))), alice());
        update(Patch.add(status("ex:p4", "of others")));

        StatementPage<Statement> first = graph.saidBy(group(), hers("alice"), null, 1);
        StatementPage<Statement> second = graph.saidBy(group(), hers("alice"), first.next(), 1);

        assertThat(first.items()).extracting(said -> said.subject().id()).containsExactly("ex:p1");
        assertThat(second.items()).extracting(said -> said.subject().id()).containsExactly("ex:p2");
        assertThat(second.next()).isNull();
        assertThat(graph.reviewsOf(group(), hers("alice"), null, 10).items())
                .extracting(Review::caller)
                .containsExactly(hers("alice"));
        assertThat(graph.queriesOf(group(), hers("alice"), 0, 10))
                .extracting(LoggedQuery::operation)
                .containsExactly("knowledge/query");
        assertThat(graph.reviewsOf(group(), "anonymous", null, 10).items()).isEmpty();
    }
}
