package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditNews;
import dev.parley.store.audit.AuditPosition;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.Filter;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.hubs.HubTable;
import dev.parley.testkit.Eventually;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Hubs that work with one PostgreSQL database at the same time. */
@Timeout(120)
@Tag("heavy")
final class HubsAtOnceTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final Filter ALL = new Filter(null, null, null, null, null, null);

    private final SharedSchema schema = new SharedSchema();
    private final List<Store> stores = new ArrayList<>();
    private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void close() {
        stores.forEach(Store::close);
        callers.close();
    }

    private Store store() {
        return added(schema.store(InstantSource.system()));
    }

    private Store added(Store store) {
        stores.add(store);
        return store;
    }

    private static AgentEndpoint host(Store store) {
        return Engine.builder(store.log())
                .build()
                .host(Agent.named("agent", "Completes").handle((request, reply) -> reply.complete("done")));
    }

    private static Task send(AgentEndpoint agent, String id) {
        var send = new SendMessage(
                null,
                Message.user(Part.text("hello")).withId(id),
                new SendConfiguration(List.of(), null, null, false),
                Map.of());
        return (Task) agent.call(send, CALLER);
    }

    private static void note(Store store, String target) {
        store.database().write(session -> {
            store.audit()
                    .add(session, new AuditEntry("default", "me", "test.noted", target, "", "done", "", "", Map.of()));
            return target;
        });
    }

    private static List<String> targets(AuditNews news) {
        return news.rows().stream().map(AuditRow::entry).map(AuditEntry::target).toList();
    }

    private static long hubs(Store store) {
        return HubTable.living(store.database()).stream()
                .filter(HubTable.LivingHub::isWorking)
                .count();
    }

    @Test
    void hubsThatStartTogetherOnAnEmptyDatabaseWorkAtTheSameTime() throws Exception {
        List<Future<Store>> starts = List.of(
                callers.submit(() -> schema.store(InstantSource.system())),
                callers.submit(() -> schema.store(InstantSource.system())));
        for (Future<Store> start : starts) {
            added(start.get());
        }

        assertThat(hubs(stores.getFirst())).isEqualTo(2);
        List<AgentEndpoint> agents = stores.stream().map(HubsAtOnceTest::host).toList();
        for (int i = 0; i < 20; i++) {
            Task task = send(agents.get(i % 2), "m-" + i);
            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(stores.get((i + 1) % 2).log().counts(null, Set.of(), null, 10))
                    .singleElement()
                    .satisfies(count -> assertThat(count.tasks()).isPositive());
        }
    }

    @Test
    void aHubThatHasTheDatabaseAloneGoesOnWithWhatHubsLeft() {
        Store one = store();
        Store other = store();
        send(host(one), "m-1");
        send(host(other), "m-2");
        note(one, "a");
        note(other, "b");
        stores.forEach(Store::close);
        stores.clear();

        Store lone = added(schema.lone(InstantSource.system()));
        note(lone, "c");

        assertThat(lone.audit().verify().broken()).isNull();
        assertThat(lone.audit().rows(new Filter(null, null, "test.noted", null, null, null), 0, 10))
                .extracting(row -> row.entry().target())
                .containsExactlyInAnyOrder("a", "b", "c");
        assertThat(lone.log().counts(null, Set.of(), null, 10))
                .singleElement()
                .satisfies(count -> assertThat(count.tasks()).isEqualTo(2));
    }

    @Test
    void theStreamOfAHubThatHasEndedIsEndedByAnother() {
        Store one = store();
        Store other = store();
        long hub = one.database().access().hub();

        schema.run("UPDATE hub SET ended_at = clock_timestamp() WHERE hub_no = " + hub);

        Eventually.holds("one hub works", () -> hubs(other) == 1 && streams(other) == 1);
        Eventually.holds(
                "the other one has noticed",
                () -> one.database().access().obstacle().isPresent());
    }

    private static long streams(Store store) {
        return number(store, "SELECT count(*) FROM stream");
    }

    private static long number(Store store, String sql) {
        return store.database().read(session -> session.number(sql));
    }

    // ---- Audit

    @Test
    void eachHubHasAChainOfItsOwnAndAPlaceInTheAuditIsOneInAllOfThem() {
        Store one = store();
        Store other = store();
        note(one, "a");
        note(other, "b");
        note(one, "c");

        AuditNews first = one.audit().since(ALL, AuditPosition.BEGINNING, 10);
        assertThat(targets(first)).containsExactlyInAnyOrder("a", "b", "c").containsSubsequence("a", "c");
        assertThat(first.isLast()).isTrue();
        AuditPosition place = AuditPosition.read(first.next().toString());
        assertThat(other.audit().since(ALL, place, 10).rows()).isEmpty();
        assertThat(other.audit().now().numbers())
                .containsAll(place.numbers().subList(1, place.numbers().size()));

        note(one, "d");
        note(other, "e");
        Store third = store();
        note(third, "f");
        AuditNews next = other.audit().since(ALL, place, 2);
        assertThat(targets(next)).containsExactly("d", "e");
        assertThat(targets(other.audit().since(ALL, next.next(), 10))).containsExactly("f");
        assertThat(first.rows()).allMatch(row -> place.includes(row.number()));
        assertThat(next.rows()).noneMatch(row -> place.includes(row.number()));
        assertThat(third.audit().verify().broken()).isNull();
    }

    @Test
    void entriesOfAHubThatBeganAndEndedSinceAPlaceAreFound() {
        Store one = store();
        note(one, "a");
        AuditPosition place = one.audit().now();

        Store short_ = schema.store(InstantSource.system());
        note(short_, "b");
        short_.close();
        Eventually.holds("its stream has ended", () -> streams(one) == 1);
        note(one, "c");

        AuditNews news = one.audit().since(ALL, place, 10);
        assertThat(targets(news)).containsExactly("b", "c");
        assertThat(one.audit().since(ALL, news.next(), 10).rows()).isEmpty();
    }

    @Test
    void entriesOfATaskComeInItsOrderWhateverTheClocksOfHubsAre() {
        Store late = added(schema.store(() -> Instant.now().minusSeconds(3_600)));
        Store early = added(schema.store(() -> Instant.now().plusSeconds(3_600)));
        List<AgentEndpoint> agents =
                Stream.of(early, late).map(HubsAtOnceTest::asking).toList();
        String task = null;
        for (int turn = 0; turn < 6; turn++) {
            Message message = Message.user(Part.text("more")).withId("m-" + turn);
            var send = new SendMessage(
                    null,
                    task == null ? message : message.in(null, task),
                    new SendConfiguration(List.of(), null, null, false),
                    Map.of());
            task = ((Task) agents.get(turn % 2).call(send, CALLER)).id();
            note(turn % 2 == 0 ? late : early, "between");
        }

        List<AuditRow> all =
                late.audit().since(ALL, AuditPosition.BEGINNING, 100).rows();
        assertThat(all).hasSizeGreaterThan(12);
        assertThat(all.stream()
                        .filter(row -> row.entry().action().startsWith("task."))
                        .map(row -> row.entry().action().equals("task.continued")))
                .startsWith(false)
                .hasSizeGreaterThan(6);
        assertInOrder(all);
        for (int limit : List.of(1, 2, 5)) {
            var rows = new ArrayList<AuditRow>();
            AuditPosition place = AuditPosition.BEGINNING;
            AuditNews news;
            do {
                news = late.audit().since(ALL, place, limit);
                rows.addAll(news.rows());
                assertThat(news.places()).hasSameSizeAs(news.rows());
                place = news.next();
            } while (!news.isLast());
            assertThat(rows).containsExactlyInAnyOrderElementsOf(all);
            assertInOrder(rows);
        }
        for (int i = 0; i < all.size(); i++) { // a reader goes on after any of them
            AuditPosition place = late.audit()
                    .since(ALL, AuditPosition.BEGINNING, 100)
                    .places()
                    .get(i);
            assertThat(early.audit()
                            .since(ALL, AuditPosition.read(place.toString()), 100)
                            .rows())
                    .containsExactlyInAnyOrderElementsOf(all.subList(i + 1, all.size()));
        }
    }

    /** Each change of a task begins with the state in which the one before ended. */
    private static void assertInOrder(List<AuditRow> rows) {
        Object state = null;
        for (AuditRow row : rows) {
            if (row.entry().action().startsWith("task.")) {
                assertThat(row.entry().detail().get("before")).isEqualTo(state);
                state = row.entry().outcome();
            }
        }
    }

    private static AgentEndpoint asking(Store store) {
        return Engine.builder(store.log())
                .build()
                .host(Agent.named("agent", "Asks").handle((request, reply) -> {
                    reply.progress(10, "thinks");
                    reply.askForInput("Which one?");
                }));
    }

    @Test
    void aMissingEntryOfAnyChainIsFound() {
        Store one = store();
        Store other = store();
        note(one, "a");
        note(other, "b");
        note(other, "c");
        assertThat(one.audit().verify().broken()).isNull();

        schema.run("DELETE FROM audit WHERE target = 'c'");

        assertThat(one.audit().verify().broken()).contains("is missing: the chain ended at row");
    }

    @Test
    void theCutEndOfAChainIsFoundThoughALaterChainHasEntries() {
        Store one = store();
        note(one, "a");
        note(one, "b");
        Store other = store();
        send(host(other), "m-1");
        assertThat(other.audit().verify().broken()).isNull();

        schema.run("DELETE FROM audit WHERE target = 'b'");
        schema.run("DELETE FROM audit_anchor");

        assertThat(other.audit().verify().broken()).contains("is missing: the chain ended at row");
    }

    @Test
    void aChainThatIsRemovedAsAWholeAndAChangedAnchorAreFound() {
        Store one = store();
        Store other = store();
        note(one, "a");
        note(other, "b");
        long chain = other.audit().rows(ALL, 0, 10).stream()
                .filter(row -> row.entry().target().equals("b"))
                .findFirst()
                .orElseThrow()
                .number();
        schema.run("DELETE FROM audit_anchor");
        Eventually.holds(
                "an anchor has both",
                () -> number(one, "SELECT count(*) FROM audit_anchor WHERE ends LIKE '%" + chain + " %'") == 1);
        assertThat(one.audit().verify().broken()).isNull();
        assertThat(one.audit().verify().rows()).isEqualTo(2);

        other.close();
        Eventually.holds("its stream has ended", () -> streams(one) == 1);
        schema.run("DELETE FROM audit WHERE row_no = " + chain);
        schema.run("DELETE FROM stream_end WHERE audit_no = " + chain);
        assertThat(one.audit().verify().broken())
                .contains("row " + chain + " is missing")
                .contains("anchor 1");

        schema.run("UPDATE audit_anchor SET ends = ''");
        assertThat(one.audit().verify().broken()).contains("anchor 1 is not what was written");
    }

    // ---- Erasure

    @Test
    void aTaskThatOneHubErasesIsGoneFromTheMemoryOfTheOther() {
        Store one = store();
        Store other = store();
        Engine erasing = Engine.builder(one.log()).build();
        erasing.host(Agent.named("agent", "Completes").handle((request, reply) -> reply.complete("done")));
        AgentEndpoint agent = host(other);
        String task = send(agent, "m-1").id();

        int erased = erasing.erase(new Subject("default", "anonymous", null), CALLER, ids -> {});

        assertThat(erased).isOne();
        assertThat(isFound(agent, task)).isFalse();
        assertThat(send(agent, "m-2").state()).isEqualTo(TaskState.COMPLETED);
        assertThat(other.audit().verify().broken()).isNull();
    }

    private static boolean isFound(AgentEndpoint agent, String task) {
        try {
            agent.call(new GetTask(null, task, null), CALLER);
            return true;
        } catch (A2AException gone) {
            return false;
        }
    }

    @Test
    void tasksThatTwoHubsRemoveTogetherLeaveOneRowEach() throws Exception {
        Store one = store();
        Store other = store();
        AgentEndpoint agent = host(one);
        for (int i = 0; i < 200; i++) {
            send(agent, "m-" + i);
        }
        Instant end = Instant.now().plusSeconds(1);

        var removed = CompletableFuture.supplyAsync(() -> one.log().removeEnded(end, 500), callers);
        other.log().removeEnded(end, 500);
        removed.join();

        assertThat(number(other, "SELECT count(*) FROM task")).isZero();
        assertThat(number(other, "SELECT coalesce(sum(tasks), 0) FROM tally")).isZero();
        assertThat(other.audit().verify().broken()).isNull();
    }
}
