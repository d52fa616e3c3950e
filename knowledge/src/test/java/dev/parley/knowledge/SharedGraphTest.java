package dev.parley.knowledge;

import static dev.parley.knowledge.TwoHubs.ALICE;
import static dev.parley.knowledge.TwoHubs.BOB;
import static dev.parley.knowledge.TwoHubs.CAROL;
import static dev.parley.knowledge.TwoHubs.GROUP;
import static dev.parley.knowledge.TwoHubs.OPERATOR;
import static dev.parley.knowledge.TwoHubs.adding;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.parley.knowledge.TwoHubs.Hub;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.model.Review;
import dev.parley.protocol.A2AException;
import dev.parley.store.audit.AuditChain;
import dev.parley.testkit.Eventually;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Truths that graphs of two hubs have in memory, and their agreement over one PostgreSQL database. */
@Timeout(120)
@Tag("heavy")
final class SharedGraphTest {
    private static final String REVIEW = "{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}";
    private static final String FORBID = "{\"rules\":[{\"id\":\"r\",\"effect\":\"forbid\",\"on\":\"query\"}]}";
    private static final String ONE_STATUS = """
            @prefix sh: <http://www.w3.org/ns/shacl#> .
            <ex:S> a sh:NodeShape ; sh:targetNode <ex:p1> ; sh:property [ sh:path <ex:status> ; sh:maxCount 1 ] .
            """;

    private final TwoHubs hubs = new TwoHubs();
    private final Hub one = hubs.one;
    private final Hub other = hubs.other;
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        callers.close();
        hubs.close();
    }

    /** Does something at both hubs at once, so many times. */
    private void atBoth(int times, Consumer<Integer> atOne, Consumer<Integer> atOther) throws Exception {
        var one = CompletableFuture.runAsync(() -> repeat(times, atOne), callers);
        var other = CompletableFuture.runAsync(() -> repeat(times, atOther), callers);
        CompletableFuture.allOf(one, other).get(90, TimeUnit.SECONDS);
    }

    private static void repeat(int times, Consumer<Integer> action) {
        for (int round = 0; round < times; round++) {
            action.accept(round);
        }
    }

    @Test
    void groupsAndTermsOfOneHubAreFoundByTheOther() {
        assertThat(other.values(ALICE)).doesNotContain("ex:p1");
        one.add(ALICE, "ex:p1", "first");
        assertThat(other.values(ALICE)).contains("ex:p1", "first");
        other.add(ALICE, "ex:p1", "second");
        other.add(CAROL, "ex:p1", "of carol");

        assertThat(one.values(ALICE)).isEqualTo(other.values(ALICE)).contains("first", "second");
        assertThat(one.values(CAROL)).contains("of carol").doesNotContain("first");
        assertThat(one.number("SELECT count(*) - count(DISTINCT lexical) FROM kg_term"))
                .isZero();
    }

    @Test
    void numbersOfBothHubsNeverCollide() throws Exception {
        int times = 60;
        one.graph().rules("other", Alignment.read(REVIEW));
        atBoth(
                times,
                round -> {
                    one.add(ALICE, "ex:one" + round, "value " + round);
                    one.add(CAROL, "ex:one" + round, "held");
                    one.values(ALICE);
                },
                round -> {
                    other.add(CAROL, "ex:other" + round, "held");
                    other.add(BOB, "ex:other" + round, "value " + round);
                    other.values(ALICE);
                });
        hubs.hubs().forEach(hub -> hub.database().write(GROUP, session -> session)); // after the records of queries

        assertThat(one.number("SELECT newest FROM kg_space WHERE group_id = 'group'"))
                .isEqualTo(2L * times);
        assertThat(one.number("SELECT count(*) FROM kg_change JOIN kg_space USING (space) WHERE group_id = 'group'"
                        + " AND change_no BETWEEN 1 AND " + 2 * times))
                .isEqualTo(2L * times);
        assertThat(one.number("SELECT count(*) - count(DISTINCT lexical) FROM kg_term"))
                .isZero();
        assertThat(one.graph().queries(GROUP, 0, 1_000)).hasSize(2 * times);
        assertThat(other.graph().reviews("other", null, null, 1_000).items())
                .extracting(Review::id)
                .doesNotHaveDuplicates()
                .hasSize(2 * times);
        assertThat(one.values(ALICE)).isEqualTo(other.values(ALICE));
        assertThat(one.number("SELECT sum(statements) FROM kg_tally")).isEqualTo(2L * times);
    }

    @Test
    void aKeyOfAnUpdateIsUsedOnceByBothHubs() throws Exception {
        var results = new ArrayList<UpdateResult>();
        for (int round = 0; round < 30; round++) {
            Update update = adding("ex:p" + round, "value").with(Map.of("idempotencyKey", "key " + round));
            List<CompletableFuture<UpdateResult>> both = hubs.hubs().stream()
                    .map(hub -> CompletableFuture.supplyAsync(() -> hub.graph().update(update, ALICE), callers))
                    .toList();
            for (CompletableFuture<UpdateResult> result : both) {
                results.add(result.get(30, TimeUnit.SECONDS));
            }
        }

        assertThat(results).allMatch(result -> Integer.valueOf(1).equals(result.statementsAffected()));
        assertThat(one.number("SELECT count(*) FROM kg_change")).isEqualTo(30);
    }

    @Test
    void aReviewIsDecidedOnceByBothHubs() throws Exception {
        one.graph().rules(GROUP, Alignment.read(REVIEW));
        for (int round = 0; round < 20; round++) {
            one.add(ALICE, "ex:p" + round, "held");
            String id = String.valueOf(round + 1);
            var approved = new ArrayList<CompletableFuture<Boolean>>();
            for (Hub hub : hubs.hubs()) {
                approved.add(CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return hub.graph().approve(id, null, OPERATOR).success();
                            } catch (A2AException decided) {
                                return false;
                            }
                        },
                        callers));
            }
            int successes = 0;
            for (CompletableFuture<Boolean> each : approved) {
                successes += each.get(30, TimeUnit.SECONDS) ? 1 : 0;
            }
            assertThat(successes).isOne();
        }
        assertThat(one.number("SELECT count(*) FROM kg_change")).isEqualTo(20);
    }

    @Test
    void rulesOfOneHubHoldAtTheOtherWhenTheyAreSet() {
        one.add(ALICE, "ex:p1", "first");
        for (int round = 0; round < 10; round++) {
            Hub setter = round % 2 == 0 ? one : other;
            setter.graph().rules(GROUP, Alignment.read(FORBID));
            for (Hub hub : hubs.hubs()) {
                assertThatExceptionOfType(A2AException.class).isThrownBy(() -> hub.values(ALICE));
            }
            setter.graph().rules(GROUP, Alignment.NONE);
            for (Hub hub : hubs.hubs()) {
                assertThat(hub.values(ALICE)).contains("first");
            }
        }
    }

    @Test
    void rulesThatBothHubsSetAtOnceAreTheSameInBothMemories() throws Exception {
        atBoth(
                20,
                round -> one.graph().rules(GROUP, Alignment.read(round % 2 == 0 ? REVIEW : FORBID)),
                round -> other.graph().rules(GROUP, Alignment.read(round % 3 == 0 ? REVIEW : FORBID)));

        assertThat(one.graph().rules(GROUP)).isEqualTo(other.graph().rules(GROUP));
        other.graph().rules(GROUP, Alignment.NONE);
        assertThat(one.graph().rules(GROUP)).isEqualTo(Alignment.NONE);
    }

    @Test
    void shapesOfOneHubHoldAtTheOtherWhenTheyAreSet() {
        one.add(ALICE, "ex:p1", "first");
        other.add(ALICE, "ex:p2", "second");
        one.graph().shapes(GROUP, ONE_STATUS);

        assertThat(other.graph().update(adding("ex:p1", "third"), ALICE).success())
                .isFalse();
        other.graph().shapes(GROUP, "");
        assertThat(one.graph().update(adding("ex:p1", "third"), ALICE).success())
                .isTrue();
    }

    @Test
    void theCertaintyOfAGraphHoldsAtTheOtherHubWhenItIsSet() {
        one.add(ALICE, "ex:p1", "first");
        Query certain = new Query(
                "{ statements { nodes { object { value } } } }",
                Query.GRAPHQL,
                Map.of(),
                0.5,
                null,
                null,
                null,
                Map.of());
        assertThat(String.valueOf(other.graph().query(certain, ALICE).data())).doesNotContain("first");

        one.graph().defaultCertainty(GROUP, null, 0.9);

        assertThat(String.valueOf(other.graph().query(certain, ALICE).data())).contains("first");
    }

    @Test
    void anErasedNameIsInTheMemoryOfNoHub() {
        String provenance = "{ statements { nodes { provenance object { value } } } }";
        one.add(ALICE, "ex:p1", "of alice");
        other.add(BOB, "ex:p2", "of bob");
        for (Hub hub : hubs.hubs()) {
            hub.graph().rules(GROUP, Alignment.read("""
                    {"rules":[{"id":"r","effect":"reject","on":"update","match":{"sourceAgent":"alice","predicate":"ex:none"}}]}"""));
            assertThat(String.valueOf(hub.graph()
                            .query(Query.graphql(provenance, Map.of()), BOB)
                            .data()))
                    .contains("alice");
        }

        one.graph().erase("alice", false, OPERATOR);

        for (Hub hub : hubs.hubs()) {
            assertThat(String.valueOf(hub.graph()
                            .query(Query.graphql(provenance, Map.of()), BOB)
                            .data()))
                    .contains("of alice", AuditChain.hashed("alice"))
                    .doesNotContain("recordedBy=alice", "sourceAgentId=alice");
            assertThat(hub.graph().rules(GROUP).json()).contains(AuditChain.hashed("alice"));
        }
    }

    @Test
    void aTermThatOneHubErasedGetsANewNumberAtTheOther() {
        for (int round = 0; round < 5; round++) {
            Hub eraser = round % 2 == 0 ? one : other;
            for (Hub hub : hubs.hubs()) {
                hub.add(ALICE, "ex:secret", "of alice");
                hub.graph().update(adding("ex:secret", "of alice").with(Map.of()), ALICE);
                assertThat(hub.values(BOB)).contains("ex:secret");
            }
            eraser.graph().erase("alice", true, OPERATOR);
            assertThat(one.number("SELECT count(*) FROM kg_term WHERE lexical IN ('ex:secret', 'alice')"))
                    .isZero();

            for (Hub hub : hubs.hubs()) {
                assertThat(hub.values(BOB)).doesNotContain("ex:secret");
                hub.add(CAROL, "ex:secret", "of carol");
                hub.add(BOB, "ex:secret", "of bob");
                assertThat(hub.values(BOB)).contains("ex:secret", "of bob");
                hub.graph().update(Update.of(Patch.remove(statement("ex:secret", "of bob"))), BOB);
                hub.graph().update(Update.of(Patch.remove(statement("ex:secret", "of carol"))), CAROL);
            }
            hubs.schema.run("DELETE FROM kg_change; UPDATE kg_space SET forgotten = newest");
        }
    }

    private static dev.parley.knowledge.api.Statement statement(String subject, String value) {
        return adding(subject, value).mutations().getFirst().statement();
    }

    @Test
    void termsThatAreErasedAndWrittenAtOnceAreWhole() throws Exception {
        var subjects = new HashSet<String>();
        atBoth(
                15,
                round -> {
                    one.add(ALICE, "ex:s" + round, "of alice");
                    one.graph().erase("alice", true, OPERATOR);
                },
                round -> {
                    for (int each = 0; each < 8; each++) {
                        other.add(BOB, "ex:s" + (round + each % 2), "of bob");
                        other.add(CAROL, "ex:s" + (round + each % 2), "of alice");
                        subjects.add("ex:s" + (round + each % 2));
                    }
                });

        for (Hub hub : hubs.hubs()) {
            assertThat(hub.values(BOB)).contains(subjects).contains("of bob");
            assertThat(hub.values(CAROL)).contains(subjects).contains("of alice");
        }
        assertThat(one.number(
                        "SELECT count(*) FROM kg_statement WHERE NOT EXISTS (SELECT 1 FROM kg_term WHERE term_no = s)"
                                + " OR NOT EXISTS (SELECT 1 FROM kg_term WHERE term_no = o)"
                                + " OR source <> 0 AND NOT EXISTS (SELECT 1 FROM kg_term WHERE term_no = source)"))
                .isZero();
    }

    @Test
    void aTermThatAnotherHubIsAboutToUseIsNotErased() throws Exception {
        one.add(ALICE, "ex:secret", "of alice");
        one.add(CAROL, "ex:p1", "of carol");
        CompletableFuture<?> erasure;
        try (Connection another = hubs.schema.connect();
                Statement statement = another.createStatement()) {
            another.setAutoCommit(false);
            statement.execute("UPDATE kg_space SET newest = newest + 1 WHERE group_id = 'other'");
            statement.execute(
                    "INSERT INTO kg_statement (space, s, p, o, g, confirmed_ms, provenance, source, change_no, hint)"
                            + " SELECT (SELECT space FROM kg_space WHERE group_id = 'other'), s, p, o, g, confirmed_ms, 0, 0, 0, 0"
                            + " FROM kg_statement JOIN kg_space USING (space) WHERE group_id = 'group'");
            erasure = CompletableFuture.runAsync(() -> one.graph().erase("alice", true, OPERATOR), callers);
            Eventually.holds(
                    "the erasure waits for the other transaction",
                    () -> erasure.isDone()
                            || one.number("SELECT count(*) FROM pg_locks WHERE NOT granted"
                                            + " AND locktype IN ('transactionid', 'tuple')")
                                    > 0);
            assertThat(erasure).isNotDone();
            another.commit();
        }
        erasure.get(30, TimeUnit.SECONDS);

        for (Hub hub : hubs.hubs()) {
            assertThat(hub.values(CAROL)).contains("ex:secret", "of alice", "of carol");
            assertThat(hub.values(BOB)).doesNotContain("ex:secret");
        }
    }

    @Test
    void aHubThatStandsStillInATransactionDoesNotHoldUpOtherGroups() throws Exception {
        one.add(ALICE, "ex:p1", "first");
        one.add(CAROL, "ex:p1", "first");
        CompletableFuture<?> blocked;
        long longest = 0;
        try (Connection another = hubs.schema.connect();
                Statement statement = another.createStatement()) {
            another.setAutoCommit(false);
            statement.execute("SELECT 1 FROM kg_space WHERE group_id = 'group' FOR UPDATE");
            blocked = CompletableFuture.allOf(
                    CompletableFuture.runAsync(() -> one.add(ALICE, "ex:p2", "second"), callers),
                    CompletableFuture.runAsync(() -> one.add(BOB, "ex:p3", "third"), callers));
            for (int round = 0; round < 30; round++) {
                long begun = System.nanoTime();
                one.add(CAROL, "ex:p" + round, "value");
                longest = Math.max(longest, System.nanoTime() - begun);
            }
            assertThat(blocked).isNotDone();
            another.commit();
        }

        blocked.get(30, TimeUnit.SECONDS);
        assertThat(Duration.ofNanos(longest)).isLessThan(Duration.ofSeconds(2));
        assertThat(one.values(ALICE)).contains("second", "third");
        assertThat(one.number("SELECT newest FROM kg_space WHERE group_id = 'group'"))
                .isEqualTo(3);
    }
}
