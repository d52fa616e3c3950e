package dev.parley.knowledge;

import static dev.parley.knowledge.TwoHubs.ALICE;
import static dev.parley.knowledge.TwoHubs.BOB;
import static dev.parley.knowledge.TwoHubs.GROUP;
import static dev.parley.knowledge.TwoHubs.OPERATOR;
import static dev.parley.knowledge.TwoHubs.adding;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.knowledge.TwoHubs.Hub;
import dev.parley.knowledge.journal.ChangeStore;
import java.time.Duration;
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

/** Two hubs that remove old rows of the same graph at once count the bytes of each row once. */
@Timeout(120)
@Tag("heavy")
final class SharedSweepTest {
    private final TwoHubs hubs =
            new TwoHubs(null, new ChangeStore.Keeping(10, Duration.ofDays(7), 10, Duration.ofMillis(1), 20));
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        callers.close();
        hubs.close();
    }

    private void atBoth(Consumer<Hub> action) throws Exception {
        List<CompletableFuture<Void>> both = hubs.hubs().stream()
                .map(hub -> CompletableFuture.runAsync(() -> action.accept(hub), callers))
                .toList();
        CompletableFuture.allOf(both.toArray(CompletableFuture[]::new)).get(90, TimeUnit.SECONDS);
    }

    private long number(String sql) {
        return hubs.one.number(sql);
    }

    private void requireCounted() {
        assertThat(number("SELECT sum(bytes) FROM stored WHERE kind = 'changes'"))
                .isEqualTo(number("SELECT coalesce(sum(bytes), 0) FROM kg_change"));
        assertThat(number("SELECT sum(bytes) FROM stored WHERE kind = 'knowledge'"))
                .isEqualTo(number("SELECT coalesce(sum(bytes), 0) FROM kg_statement")
                        + number("SELECT coalesce(sum(bytes), 0) FROM kg_assertion")
                        + number("SELECT coalesce(sum(bytes), 0) FROM kg_review")
                        + number("SELECT coalesce(sum(200 + octet_length(result)), 0) FROM kg_key")
                        + number("SELECT coalesce(sum(200 + octet_length(value)), 0) FROM kg_setting WHERE space > 0"));
    }

    @Test
    void oldRowsAreRemovedAndCountedOnce() throws Exception {
        atBoth(hub -> {
            for (int round = 0; round < 150; round++) {
                String subject = (hub.equals(hubs.one) ? "ex:one" : "ex:other") + round;
                hub.graph().update(adding(subject, "value").with(Map.of("idempotencyKey", "key" + subject)), ALICE);
            }
        });
        hubs.hubs().forEach(hub -> hub.graph().awaitSweep());

        assertThat(number("SELECT count(*) FROM kg_change")).isLessThan(150);
        requireCounted();
    }

    @Test
    void whatBothHubsEraseIsCountedOnce() throws Exception {
        for (int round = 0; round < 20; round++) {
            hubs.one.add(ALICE, "ex:p" + round, "value");
            hubs.other.add(BOB, "ex:p" + round, "value");
        }
        hubs.one
                .graph()
                .rules(GROUP, Alignment.read("{\"rules\":[{\"id\":\"r\",\"effect\":\"review\",\"on\":\"update\"}]}"));
        for (int round = 0; round < 20; round++) {
            hubs.other.graph().update(adding("ex:p" + round, "held").with(Map.of("idempotencyKey", "" + round)), ALICE);
        }

        atBoth(hub -> hub.graph().erase("alice", true, OPERATOR));

        assertThat(number("SELECT count(*) FROM kg_review")).isZero();
        assertThat(number("SELECT count(*) FROM kg_term WHERE lexical = 'alice'"))
                .isZero();
        requireCounted();
    }
}
