package dev.parley.knowledge;

import static dev.parley.knowledge.TwoHubs.ALICE;
import static dev.parley.knowledge.TwoHubs.BOB;
import static dev.parley.knowledge.TwoHubs.GROUP;
import static dev.parley.knowledge.TwoHubs.adding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.TwoHubs.Hub;
import dev.parley.knowledge.api.KnowledgeError;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.A2AException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Updates at two hubs that are valid alone and invalid together. The property {@code parley.shared.rounds} is the number of pairs, for
 * long runs.
 */
@Timeout(1_800)
@Tag("heavy")
final class SharedShapesTest {
    private static final int ROUNDS = Integer.getInteger("parley.shared.rounds", 25);

    private final TwoHubs hubs = new TwoHubs();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        callers.close();
        hubs.close();
    }

    /** Whether an update is accepted; one that was computed in vain is sent again. */
    private static boolean isAccepted(Hub hub, Update update) {
        while (true) {
            try {
                return hub.graph().update(update, ALICE).success();
            } catch (A2AException conflict) {
                assertThat(conflict.error()).isEqualTo(KnowledgeError.KNOWLEDGE_UPDATE);
                assertThat(conflict.metadata()).containsEntry("reason", "conflict");
            }
        }
    }

    /** Sends two updates at once, one to each hub, and returns how many are accepted. */
    private int accepted(Update ofOne, Update ofOther) throws Exception {
        var start = new CyclicBarrier(2);
        var results = new ArrayList<CompletableFuture<Boolean>>();
        for (Hub hub : hubs.hubs()) {
            Update update = hub.equals(hubs.one) ? ofOne : ofOther;
            results.add(CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            start.await(30, TimeUnit.SECONDS);
                        } catch (Exception late) {
                            throw new AssertionError(late);
                        }
                        return isAccepted(hub, update);
                    },
                    callers));
        }
        int accepted = 0;
        for (CompletableFuture<Boolean> result : results) {
            accepted += result.get(60, TimeUnit.SECONDS) ? 1 : 0;
        }
        return accepted;
    }

    @Test
    void ofTwoUpdatesThatAreInvalidTogetherOneIsAccepted() throws Exception {
        hubs.one.graph().shapes(GROUP, """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:S> a sh:NodeShape ; sh:targetSubjectsOf <ex:status> ;
                    sh:property [ sh:path <ex:status> ; sh:maxCount 1 ] .
                """);
        for (int round = 0; round < ROUNDS; round++) {
            assertThat(accepted(adding("ex:p" + round, "one"), adding("ex:p" + round, "other")))
                    .as("round %d", round)
                    .isOne();
        }

        assertThat(hubs.one.number("SELECT count(*) FROM kg_statement")).isEqualTo(ROUNDS);
        assertThat(hubs.one.values(ALICE)).isEqualTo(hubs.other.values(ALICE));
    }

    @Test
    void aTypeThatIsOnlyMentionedCountsAtTheOtherHub() throws Exception {
        hubs.one.graph().shapes(GROUP, """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:S> a sh:NodeShape ; sh:targetClass <ex:Robot> ; sh:property [ sh:path <ex:name> ; sh:maxCount 0 ] .
                """);
        for (int round = 0; round < ROUNDS; round++) {
            String id = "ex:p" + round;
            hubs.one.add(ALICE, id, "held");
            // Repeats a statement that is held, with a type: no change is made of it.
            Update mention = Update.of(Patch.add(new Statement(
                    new Resource(id, "ex:Robot"), "ex:status", Literal.of("held"), null, null, java.util.Map.of())));
            Update name = Update.of(Patch.add(Statement.of(id, "ex:name", Literal.of("Robbie"))));
            if (round == 0) {
                assertThat(isAccepted(hubs.one, mention)).isTrue();
                assertThat(isAccepted(hubs.other, name)).isFalse();
            } else {
                assertThat(accepted(mention, name)).as("round %d", round).isOne();
            }
        }
    }

    @Test
    void updatesOfBothHubsThatDoNotMeetAreAccepted() throws Exception {
        hubs.one.graph().shapes(GROUP, """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:S> a sh:NodeShape ; sh:targetSubjectsOf <ex:status> ;
                    sh:property [ sh:path <ex:status> ; sh:maxCount 1 ] .
                """);
        List<CompletableFuture<Void>> writers = hubs.hubs().stream()
                .map(hub -> CompletableFuture.runAsync(
                        () -> {
                            for (int round = 0; round < ROUNDS; round++) {
                                hub.add(BOB, "ex:" + (hub.equals(hubs.one) ? "one" : "other") + round, "value");
                            }
                        },
                        callers))
                .toList();
        CompletableFuture.allOf(writers.toArray(CompletableFuture[]::new)).get(120, TimeUnit.SECONDS);

        assertThat(hubs.one.number("SELECT count(*) FROM kg_statement")).isEqualTo(2L * ROUNDS);
    }
}
