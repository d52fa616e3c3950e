package dev.parley.knowledge;

import static dev.parley.knowledge.TwoHubs.ALICE;
import static dev.parley.knowledge.TwoHubs.BOB;
import static dev.parley.knowledge.TwoHubs.CAROL;
import static dev.parley.knowledge.TwoHubs.GROUP;
import static dev.parley.knowledge.TwoHubs.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.knowledge.TwoHubs.Hub;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.KnowledgeOperation.Subscribe;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Subscribers of two hubs that write to the same graph. */
@Timeout(120)
@Tag("heavy")
final class SharedSubscriptionsTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final TwoHubs hubs = new TwoHubs();
    private final Hub one = hubs.one;
    private final Hub other = hubs.other;
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        callers.close();
        hubs.close();
    }

    private static Feed<Change> subscribe(Hub hub, CallContext caller, Map<String, Object> metadata) {
        return hub.graph()
                .subscribe(
                        Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of())
                                .with(metadata),
                        caller);
    }

    private static Feed<Change> subscribe(Hub hub) {
        return subscribe(hub, ALICE, Map.of());
    }

    /** The next changes of a feed, so many. */
    private static List<Change> next(Feed<Change> feed, int count) throws InterruptedException {
        var changes = new ArrayList<Change>();
        while (changes.size() < count) {
            List<Change> some = feed.next(LONG);
            assertThat(some).as("after %d changes", changes.size()).isNotEmpty();
            changes.addAll(some);
        }
        return changes;
    }

    /** The subject of the next change, or the reason why there is none. */
    private static String nextSubject(Feed<Change> feed) {
        try {
            return subjects(next(feed, 1)).getFirst();
        } catch (A2AException end) {
            return String.valueOf(end.metadata().get("reason"));
        } catch (InterruptedException stopped) {
            throw new AssertionError(stopped);
        }
    }

    private static List<String> subjects(List<Change> changes) {
        return changes.stream().map(change -> change.statement().subject().id()).toList();
    }

    @Test
    void aSubscriberSeesChangesOfBothHubsAtOnce() throws Exception {
        one.add(ALICE, "ex:before", "value");
        try (Feed<Change> ofOne = subscribe(one);
                Feed<Change> ofOther = subscribe(other)) {
            one.add(ALICE, "ex:p1", "value");
            other.add(ALICE, "ex:p2", "value");
            other.add(CAROL, "ex:hidden", "of another group");
            other.add(ALICE, "ex:p3", "value");
            one.add(ALICE, "ex:p4", "value");

            List<Change> changes = next(ofOne, 4);
            assertThat(subjects(changes)).containsExactly("ex:p1", "ex:p2", "ex:p3", "ex:p4");
            assertThat(next(ofOther, 4)).isEqualTo(changes);
        }
    }

    @Test
    void allSubscribersSeeAllChangesOnceAndInOrder() throws Exception {
        int times = 100;
        var feeds = new ArrayList<Feed<Change>>();
        hubs.hubs().forEach(hub -> IntStream.range(0, 3).forEach(each -> feeds.add(subscribe(hub))));
        List<CompletableFuture<List<Change>>> read = feeds.stream()
                .map(feed -> CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return next(feed, 2 * times);
                            } catch (InterruptedException stopped) {
                                throw new AssertionError(stopped);
                            }
                        },
                        callers))
                .toList();
        List<CompletableFuture<Void>> written = hubs.hubs().stream()
                .map(hub -> CompletableFuture.runAsync(
                        () -> {
                            for (int round = 0; round < times; round++) {
                                hub.add(BOB, (hub.equals(one) ? "ex:one" : "ex:other") + round, "value");
                            }
                        },
                        callers))
                .toList();

        CompletableFuture.allOf(written.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
        List<Change> first = read.getFirst().get(60, TimeUnit.SECONDS);
        assertThat(first)
                .extracting(Change::changeId)
                .doesNotHaveDuplicates()
                .hasSize(2 * times)
                .isSorted();
        assertThat(subjects(first).stream().filter(id -> id.startsWith("ex:one")))
                .containsExactlyElementsOf(IntStream.range(0, times)
                        .mapToObj(round -> "ex:one" + round)
                        .toList());
        for (CompletableFuture<List<Change>> each : read) {
            assertThat(each.get(60, TimeUnit.SECONDS)).isEqualTo(first);
        }
        feeds.forEach(Feed::close);
    }

    @Test
    void aSubscriptionGoesOnAtTheOtherHub() throws Exception {
        String seen;
        try (Feed<Change> feed = subscribe(one)) {
            one.add(ALICE, "ex:p1", "value");
            other.add(ALICE, "ex:p2", "value");
            other.add(ALICE, "ex:p3", "value");
            seen = next(feed, 2).get(1).changeId();
        }
        one.add(ALICE, "ex:p4", "value");

        try (Feed<Change> feed = subscribe(other, ALICE, Map.of("afterChangeId", seen))) {
            assertThat(subjects(next(feed, 2))).containsExactly("ex:p3", "ex:p4");
            one.add(ALICE, "ex:p5", "value");
            assertThat(subjects(next(feed, 1))).containsExactly("ex:p5");
        }
    }

    @Test
    void aFeedWithoutSubscribersGoesOnWhereTheGraphIs() throws Exception {
        subscribe(one).close();
        for (int round = 0; round < 5; round++) {
            other.add(ALICE, "ex:missed" + round, "value");
            one.add(ALICE, "ex:own" + round, "value");
        }
        try (Feed<Change> feed = subscribe(one)) {
            other.add(ALICE, "ex:p1", "value");
            one.add(ALICE, "ex:p2", "value");
            assertThat(subjects(next(feed, 2))).containsExactly("ex:p1", "ex:p2");
        }
    }

    @Test
    void aSubscriberSeesAnImportAtTheOtherHub() throws Exception {
        try (Feed<Change> feed = subscribe(one)) {
            List<Statement> many = IntStream.range(0, 3_000)
                    .mapToObj(each -> Statement.of("ex:p" + each, "ex:status", Literal.of("value")))
                    .toList();
            other.graph().load(many, OPERATOR, null);
            one.add(ALICE, "ex:last", "value");

            List<Change> changes = next(feed, many.size() + 1);
            assertThat(changes)
                    .extracting(Change::changeId)
                    .doesNotHaveDuplicates()
                    .isSorted();
            assertThat(subjects(changes).getLast()).isEqualTo("ex:last");
        }
    }

    @Test
    void rulesOfTheOtherHubEndASubscription() throws Exception {
        one.add(ALICE, "ex:p1", "value");
        try (Feed<Change> feed = subscribe(one)) {
            CompletableFuture<A2AException> end = CompletableFuture.supplyAsync(
                    () -> catchThrowableOfType(A2AException.class, () -> feed.next(LONG)), callers);

            other.graph()
                    .rules(
                            GROUP,
                            Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"forbid\",\"on\":\"subscribe\"}]}"));

            A2AException revoked = end.get(10, TimeUnit.SECONDS);
            assertThat(revoked.error()).isEqualTo(KnowledgeError.KNOWLEDGE_SUBSCRIPTION);
            assertThat(revoked.metadata()).containsEntry("reason", "revoked");
        }
    }

    @Test
    void aSubscriptionFromBeforeAnErasureBeginsAnewAtBothHubs() throws Exception {
        String seen;
        try (Feed<Change> feed = subscribe(other)) {
            one.add(ALICE, "ex:p1", "value");
            one.add(BOB, "ex:p2", "value");
            seen = next(feed, 2).getFirst().changeId();
            CompletableFuture<String> removal = CompletableFuture.supplyAsync(() -> nextSubject(feed), callers);
            one.graph().erase("alice", true, OPERATOR);
            assertThat(removal.get(10, TimeUnit.SECONDS)).isIn("ex:p1", "expired");
        }
        for (Hub hub : hubs.hubs()) {
            A2AException expired =
                    catchThrowableOfType(A2AException.class, () -> subscribe(hub, BOB, Map.of("afterChangeId", seen)));
            assertThat(expired.metadata()).containsEntry("reason", "expired");
        }
    }
}
