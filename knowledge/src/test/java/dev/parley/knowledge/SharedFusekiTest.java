package dev.parley.knowledge;

import static dev.parley.knowledge.TwoHubs.ALICE;
import static dev.parley.knowledge.TwoHubs.BOB;
import static dev.parley.knowledge.TwoHubs.GROUP;
import static dev.parley.knowledge.TwoHubs.OPERATOR;
import static dev.parley.knowledge.TwoHubs.adding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.TwoHubs.Hub;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.journal.ChangeStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Graphs of two hubs whose statements are on one SPARQL server, and whose records are in one database. */
@Timeout(180)
@Tag("heavy")
final class SharedFusekiTest {
    private static final String REVIEW = "{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}";

    @TempDir
    private Path directory;

    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
    private FusekiServer server;
    private TwoHubs hubs;

    @BeforeEach
    void open() throws IOException {
        server = new FusekiServer(directory);
        hubs = new TwoHubs(server.service(), ChangeStore.Keeping.DEFAULTS);
    }

    @AfterEach
    void close() {
        callers.close();
        hubs.close();
        server.close();
    }

    private <T> List<T> atBoth(Function<Hub, T> action) throws Exception {
        var results = new ArrayList<T>();
        List<CompletableFuture<T>> both = hubs.hubs().stream()
                .map(hub -> CompletableFuture.supplyAsync(() -> action.apply(hub), callers))
                .toList();
        for (CompletableFuture<T> each : both) {
            results.add(each.get(90, TimeUnit.SECONDS));
        }
        return results;
    }

    @Test
    void anUpdateIsSeenByTheOtherHubWhenItIsAnswered() {
        for (int round = 0; round < 10; round++) {
            Hub writer = round % 2 == 0 ? hubs.one : hubs.other;
            writer.add(ALICE, "ex:p" + round, "value");
            for (Hub hub : hubs.hubs()) {
                assertThat(hub.values(BOB)).contains("ex:p" + round);
            }
        }
        hubs.one.graph().erase("alice", true, OPERATOR);
        assertThat(hubs.other.values(BOB)).doesNotContain("ex:p");
    }

    @Test
    void updatesOfBothHubsAreMadeOnce() throws Exception {
        int times = 12;
        atBoth(hub -> {
            for (int round = 0; round < times; round++) {
                hub.add(ALICE, (hub.equals(hubs.one) ? "ex:one" : "ex:other") + round, "value");
                assertThat(hub.values(BOB)).contains((hub.equals(hubs.one) ? "ex:one" : "ex:other") + round);
            }
            return hub;
        });

        assertThat(hubs.one.number("SELECT count(*) FROM kg_change")).isEqualTo(2L * times);
        assertThat(hubs.one.number("SELECT update_no FROM kg_remote")).isEqualTo(2L * times);
        assertThat(hubs.one.values(BOB)).isEqualTo(hubs.other.values(BOB));
        assertThat(hubs.one.values(BOB).split("id=ex:", -1)).hasSize(2 * times + 1);
        hubs.hubs().forEach(hub -> assertThat(hub.graph().storeProblem()).isEmpty());
    }

    @Test
    void ofTwoUpdatesThatAreInvalidTogetherOneIsAccepted() throws Exception {
        hubs.one.graph().shapes(GROUP, """
                @prefix sh: <http://www.w3.org/ns/shacl#> .
                <ex:S> a sh:NodeShape ; sh:targetSubjectsOf <ex:status> ;
                    sh:property [ sh:path <ex:status> ; sh:maxCount 1 ] .
                """);
        for (int round = 0; round < 8; round++) {
            String id = "ex:p" + round;
            List<Boolean> accepted = atBoth(hub -> hub.graph()
                    .update(adding(id, hub.equals(hubs.one) ? "one" : "other"), ALICE)
                    .success());
            assertThat(accepted).containsExactlyInAnyOrder(true, false);
        }
    }

    @Test
    void aKeyOfAnUpdateThatWaitsIsUsedOnceByBothHubs() throws Exception {
        hubs.one.graph().rules(GROUP, Alignment.read(REVIEW));
        for (int round = 0; round < 8; round++) {
            Update update = adding("ex:p" + round, "value").with(Map.of("idempotencyKey", "key " + round));
            List<UpdateResult> results = atBoth(hub -> hub.graph().update(update, ALICE));
            assertThat(results.getFirst()).isEqualTo(results.getLast());
        }
        assertThat(hubs.one.number("SELECT count(*) FROM kg_review")).isEqualTo(8);
    }
}
